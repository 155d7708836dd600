// The epochs of docs/spec/policy.md: periods of time in UTC, each with a name and a number.
// @ts-check

/** @typedef {"year" | "month" | "week" | "day"} Form */

/** @type {readonly Form[]} */
export const FORMS = ["year", "month", "week", "day"];

const DAY = 86400000, MONDAY = 4; // 1970-01-05 is the first day, and of the first week

/** @type {(ms: number) => number} The number of the day of a time. */
const day = (ms) => Math.floor(ms / DAY) - MONDAY;

/** @type {(form: Form, ms: number) => number} The number of the epoch that a time is in, in milliseconds of UTC. */
export function epochAt(form, ms) {
  const date = new Date(ms), year = date.getUTCFullYear();
  if (form === "year") return year;
  if (form === "month") return 12 * year + date.getUTCMonth() + 1;
  return form === "day" ? day(ms) : Math.floor(day(ms) / 7);
}

/** @type {(form: Form, n: number) => string | null} The name of the epoch with a number; null if there is none. */
export function epochName(form, n) {
  const month = form === "year" ? 0 : (n - 1) % 12;
  const ms = form === "year" ? Date.UTC(n, 0) : form === "month" ? Date.UTC((n - 1 - month) / 12, month)
    : DAY * ((form === "day" ? n : 7 * n + 3) + MONDAY); // the year of a week is that of its Thursday
  const date = new Date(ms), year = date.getUTCFullYear();
  if (!(year >= 2000 && year <= 9999)) return null;
  if (form !== "week") return date.toISOString().slice(0, {year: 4, month: 7, day: 10}[form]);
  return `${year}-W${String(Math.floor((ms - Date.UTC(year, 0)) / DAY / 7) + 1).padStart(2, "0")}`;
}

/** @type {(form: Form, text: string) => number | null} The number of an epoch; null if the text is none of the form. */
export function epochNumber(form, text) {
  const m = /^([0-9]{4})(?:-W?([0-9]{2}))?(?:-([0-9]{2}))?$/.exec(text);
  if (!m) return null;
  const [year, part, last] = m.slice(1).map(Number);
  const n = form === "year" ? year : form === "month" ? 12 * year + part
    : form === "day" ? day(Date.UTC(year, part - 1, last)) : epochAt(form, Date.UTC(year, 0, 4)) + part - 1;
  return epochName(form, n) === text ? n : null;
}
