/** A number in the reader's locale, such as `1,051` or `1.051`. */
export function formatAmount(number: number): string {
  return number.toLocaleString();
}

/** A count with its noun, such as `1 part` or `3 parts`. */
export function formatCounted(number: number, noun: string, nouns = `${noun}s`): string {
  return `${formatAmount(number)} ${number === 1 ? noun : nouns}`;
}

export function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** A share from 0 to 1 as a percentage, which is 100 only for the whole. */
export function formatPercent(share: number): string {
  const rounded = share < 1 ? Math.min(Math.round(share * 1_000) / 10, 99.9) : 100;
  return `${rounded.toLocaleString()} %`;
}

const MB = 1_024 * 1_024;

/** The size of a file, such as `12 kB` or `1.5 MB`. */
export function formatFileSize(bytes: number): string {
  return bytes < MB
    ? `${formatAmount(Math.ceil(bytes / 1_024))} kB`
    : `${formatAmount(Math.round((bytes / MB) * 10) / 10)} MB`;
}

/** A duration for people, such as `5 ms`, `0.4 s`, `12 s`, `3 min`, `5 h` or `2 d`. */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 100_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

/** The time of day in the reader's locale, such as `14:03` or `2:03 PM`. */
export function formatTimeOfDay(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' });
}

/** Day and time, such as `Today, 14:03`. */
export function formatMoment(at: number): string {
  return `${formatDay(at, Date.now())}, ${formatTimeOfDay(at)}`;
}

/** The day for people: `Today`, `Yesterday`, or the date. Both times are in ms. */
export function formatDay(at: number, now: number): string {
  const days = Math.round((getStartOfDay(now) - getStartOfDay(at)) / 86_400_000);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? undefined : 'numeric';
  return new Date(at).toLocaleDateString([], {
    weekday: 'long',
    month: 'long',
    day: 'numeric',
    year,
  });
}

function getStartOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
