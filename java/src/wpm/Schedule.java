package wpm;

/** The schedule of a policy of version 3: which epochs it is for, and one release in how many (docs/spec/policy.md). */
final class Schedule {
  final String form; // year, month, week or day
  final long first, last; // numbers of epochs; Long.MIN_VALUE and Long.MAX_VALUE: open
  final int period;

  private Schedule(String form, long first, long last, int period) {
    this.form = form;
    this.first = first;
    this.last = last;
    this.period = period;
  }

  static Schedule read(Scanner in) throws Refused {
    in.need("\"schedule\":{\"epochs\":");
    String form = in.text("epochs", 1, 16);
    if (number(form, "") == NO_FORM) throw in.bad("epochs of form " + form);
    long[] ends = {Long.MIN_VALUE, Long.MAX_VALUE};
    for (int n = 0; n < 2; n++) {
      in.need(n == 0 ? ",\"first\":" : ",\"last\":");
      if (in.next("null")) continue;
      ends[n] = number(form, in.text("epoch", 0, 64));
      if (ends[n] == NONE) throw in.bad("no epoch of form " + form);
    }
    if (ends[0] > ends[1]) throw in.bad("first is after last");
    in.need(",\"period\":");
    int period = in.number("period", 0, 10_000);
    if (period == 1) throw in.bad("a period of 1");
    in.need("},\n");
    return new Schedule(form, ends[0], ends[1], period);
  }

  static final String[] FORMS = {"year", "month", "week", "day"};
  static final long NONE = -1, NO_FORM = -2;

  /** The number of an epoch, NONE if the text is none, NO_FORM if there is no such form. */
  static long number(String form, String s) {
    String shape;
    switch (form) {
      case "year": shape = "dddd"; break;
      case "month": shape = "dddd-dd"; break;
      case "week": shape = "dddd-Wdd"; break;
      case "day": shape = "dddd-dd-dd"; break;
      default: return NO_FORM;
    }
    if (s.length() != shape.length()) return NONE;
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (shape.charAt(i) == 'd' ? c < '0' || c > '9' : c != shape.charAt(i)) return NONE;
    }
    int year = Integer.parseInt(s.substring(0, 4));
    if (year < 2000) return NONE;
    if (form.equals("year")) return year;
    if (form.equals("week")) {
      int week = Integer.parseInt(s.substring(6));
      long monday = firstMonday(year), weeks = (firstMonday(year + 1) - monday) / 7;
      return week < 1 || week > weeks ? NONE : monday / 7 + week - 1;
    }
    int month = Integer.parseInt(s.substring(5, 7));
    if (month < 1 || month > 12) return NONE;
    if (form.equals("month")) return 12L * year + month;
    int day = Integer.parseInt(s.substring(8));
    long start = days(year, month, 1), next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1);
    return day < 1 || day > next - start ? NONE : start + day - 1;
  }

  /** Days since 1970-01-05, a Monday. */
  private static long days(int year, int month, int day) {
    int y = month <= 2 ? year - 1 : year, m = (month + 9) % 12; // years from March
    return 365L * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_472;
  }

  /** The name of the epoch of a form that a time is in, in milliseconds of UTC since 1970; null before 2000 and after 9999. */
  static String at(String form, long millis) {
    return of(form, Math.floorDiv(millis, 86_400_000L) - 4);
  }

  /** The name of the epoch of a number, null after 9999. */
  static String name(String form, long n) {
    switch (form) {
      case "year": return of(form, days((int) n, 1, 1));
      case "month": return of(form, days((int) ((n - 1) / 12), (int) ((n - 1) % 12) + 1, 1));
      default: return of(form, form.equals("week") ? 7 * n : n);
    }
  }

  /** The name of the epoch that a day is in, counted from 1970-01-05. */
  private static String of(String form, long day) {
    int year = (int) Math.max(1999, Math.min(10_000, 1970 + Math.floorDiv(day, 366L))); // not above the year, by a month at most
    while (year < 10_000 && days(year + 1, 1, 1) <= day) year++;
    if (form.equals("week")) { // the last days of December may be in week 1
      long monday = day - Math.floorMod(day, 7L);
      while (firstMonday(year) > day) year--;
      while (firstMonday(year + 1) <= day) year++;
      if (year < 2000 || year > 9999) return null;
      return String.format(java.util.Locale.ROOT, "%04d-W%02d", year, (monday - firstMonday(year)) / 7 + 1);
    }
    if (year < 2000 || year > 9999 || days(year, 1, 1) > day) return null;
    int month = 1;
    while (month < 12 && days(year, month + 1, 1) <= day) month++;
    String name = String.format(java.util.Locale.ROOT, "%04d-%02d-%02d", year, month, day - days(year, month, 1) + 1);
    return name.substring(0, form.equals("year") ? 4 : form.equals("month") ? 7 : 10);
  }

  /** The Monday of week 1, which has January 4. */
  private static long firstMonday(int year) {
    long fourth = days(year, 1, 4);
    return fourth - Math.floorMod(fourth, 7L);
  }
}
