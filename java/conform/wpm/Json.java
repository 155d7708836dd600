package wpm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON of a line: objects, lists, texts, numbers as their spelling, true, false and null. */
final class Json {
  /** A number, as it is written. */
  static final class Num {
    final String text;

    Num(String text) {
      this.text = text;
    }
  }

  private final String s;
  private int at;
  private String id = "null"; // the member id of the outermost object, as it is written

  private Json(String s) {
    this.s = s;
  }

  /** Reads a line. The member id of its object is put under that name as it is written. */
  static Map<String, Object> line(String s, String[] id) {
    Json j = new Json(s);
    j.space();
    if (j.peek() != '{') throw new IllegalArgumentException("the line is no object");
    Object o = j.value(0);
    id[0] = j.id;
    j.space();
    if (j.at != s.length()) throw new IllegalArgumentException("something after the object");
    @SuppressWarnings("unchecked") Map<String, Object> m = (Map<String, Object>) o;
    return m;
  }

  private int peek() {
    return at < s.length() ? s.charAt(at) : -1;
  }

  private void space() {
    while (at < s.length() && " \t\r\n".indexOf(s.charAt(at)) >= 0) at++;
  }

  private boolean next(String t) {
    if (!s.startsWith(t, at)) return false;
    at += t.length();
    return true;
  }

  private void need(String t) {
    if (!next(t)) throw new IllegalArgumentException("no JSON at character " + at);
  }

  private Object value(int depth) {
    if (depth > 500) throw new IllegalArgumentException("too deep");
    space();
    switch (peek()) {
      case '{': {
        Map<String, Object> m = new LinkedHashMap<>();
        at++;
        space();
        for (int n = 0; !next("}"); n++) {
          if (n > 0) need(",");
          space();
          String name = string();
          space();
          need(":");
          space();
          int from = at;
          m.put(name, value(depth + 1));
          if (depth == 0 && name.equals("id")) id = s.substring(from, at);
          space();
        }
        return m;
      }
      case '[': {
        List<Object> l = new ArrayList<>();
        at++;
        space();
        for (int n = 0; !next("]"); n++) {
          if (n > 0) need(",");
          l.add(value(depth + 1));
          space();
        }
        return l;
      }
      case '"': return string();
      case 't': need("true"); return true;
      case 'f': need("false"); return false;
      case 'n': need("null"); return null;
      default: {
        int from = at;
        while (at < s.length() && "+-.0123456789eE".indexOf(s.charAt(at)) >= 0) at++;
        String t = s.substring(from, at);
        if (!t.matches("-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?")) throw new IllegalArgumentException("no JSON");
        return new Num(t);
      }
    }
  }

  private String string() {
    need("\"");
    StringBuilder b = new StringBuilder();
    while (peek() != '"') {
      if (peek() < 0x20) throw new IllegalArgumentException("no end of a text");
      char c = s.charAt(at++);
      if (c != '\\') {
        b.append(c);
        continue;
      }
      int e = "\"\\/bfnrtu".indexOf(peek());
      if (e < 0) throw new IllegalArgumentException("an escape that there is not");
      at++;
      if (e < 8) {
        b.append("\"\\/\b\f\n\r\t".charAt(e));
      } else {
        if (!s.substring(at, Math.min(at + 4, s.length())).matches("[0-9a-fA-F]{4}")) throw new IllegalArgumentException("escape");
        b.append((char) Integer.parseInt(s.substring(at, at + 4), 16));
        at += 4;
      }
    }
    at++;
    return b.toString();
  }

  static String text(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < 0x20 || c > 0x7e) b.append(String.format("\\u%04x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }
}
