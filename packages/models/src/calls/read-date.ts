const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const CLOCK = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?`;
const ZONE = String.raw`(Z|[+-]\d{2}:?\d{2})`;
const CLOCK_ONLY = new RegExp(`^${CLOCK}$`);
const DAY_AND_CLOCK = new RegExp(`^(.+?)(?:[T ]|,\\s*)\\s*${CLOCK}\\s*${ZONE}$`, 'i');

/**
 * Converts a date or time to ISO 8601 when it was written in another unambiguous form; null when it
 * already has that form, or when it is ambiguous: neither 11/12/2026 nor a date-time without a time
 * zone is converted.
 */
export function toIsoDateOrTime(
  text: string,
  format: 'date' | 'date-time' | 'time',
): string | null {
  const written = text.trim();
  switch (format) {
    case 'date': {
      const day = parseDay(written) ?? parseMidnight(written);
      return day === text ? null : day;
    }
    case 'date-time':
      return toIsoDateTime(text, written);
    case 'time': {
      const [, hours = '', minutes, seconds = '00'] = CLOCK_ONLY.exec(written) ?? [];
      const isIso = /^\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(text);
      if (minutes === undefined || isIso) return null;
      return `${hours.padStart(2, '0')}:${minutes}:${seconds}`;
    }
  }
}

function toIsoDateTime(text: string, written: string): string | null {
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text))
    return null;
  const [, day = '', hours = '', minutes, seconds = '00', zone = ''] =
    DAY_AND_CLOCK.exec(written) ?? [];
  const date = parseDay(day.trim());
  if (date === null || minutes === undefined) return null;
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  return `${date}T${hours.padStart(2, '0')}:${minutes}:${seconds}${offset}`;
}

/** A date-time at midnight represents its day. */
function parseMidnight(text: string): string | null {
  const [, day = ''] =
    /^(.+?)[T ]00:00(?::00(?:\.0+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?$/i.exec(text) ?? [];
  return parseDay(day);
}

function parseDay(text: string): string | null {
  const yearFirst =
    /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text) ?? /^(\d{4})(\d{2})(\d{2})$/.exec(text);
  if (yearFirst !== null) return toIsoDay(yearFirst[1], yearFirst[2], yearFirst[3]);
  const dotted = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(text);
  if (dotted !== null) return toIsoDay(dotted[3], dotted[2], dotted[1]);
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(text);
  if (slashed !== null) return parseSlashedDay(slashed);
  const dayFirst =
    /^(?:[a-z]+,\s*)?(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?([a-z]{3,9})\.?,?\s+(\d{4})$/i.exec(
      text,
    );
  if (dayFirst !== null) return toIsoDay(dayFirst[3], findMonth(dayFirst[2]), dayFirst[1]);
  const monthFirst =
    /^(?:[a-z]+,\s*)?([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/i.exec(text);
  if (monthFirst !== null) return toIsoDay(monthFirst[3], findMonth(monthFirst[1]), monthFirst[2]);
  return null;
}

/** Day and month may be in either order, unless one of them cannot be a month or both are equal. */
function parseSlashedDay([, first, second, year]: RegExpExecArray): string | null {
  const readings = new Set([toIsoDay(year, second, first), toIsoDay(year, first, second)]);
  readings.delete(null);
  const [only = null] = readings;
  return readings.size === 1 ? only : null;
}

function findMonth(word = ''): string | undefined {
  const at = MONTHS.indexOf(word.slice(0, 3).toLowerCase());
  return at === -1 ? undefined : String(at + 1);
}

/** Null if the calendar has no such day. */
function toIsoDay(year = '', month = '', day = ''): string | null {
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = new Date(`${iso}T00:00:00Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== iso ? null : iso;
}
