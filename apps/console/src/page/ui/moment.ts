/** The time of day in the reader's own way of writing it, `14:03` or `2:03 PM`. */
export function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' });
}

/** Day and time, `Today, 14:03`. */
export function momentOf(at: number): string {
  return `${dayOf(at, Date.now())}, ${timeOf(at)}`;
}

/** The day for people: `Today`, `Yesterday`, else the date. Both times in ms. */
export function dayOf(at: number, now: number): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000);
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

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
