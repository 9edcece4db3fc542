/** The agent's local date and time at a moment (ms), for example `2026-11-21` and `14:05`. */
export type LocalTime = (now: number) => { readonly date: string; readonly time: string };

/** A clock face for one IANA time zone. Made once: making a formatter costs a hundred times using it. */
export function localTimeIn(timeZone: string): LocalTime {
  // Swedish dates are written as ISO 8601 writes them.
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  // A turn asks several times within a second.
  let last = { second: Number.NaN, shown: { date: '', time: '' } };
  return (now) => {
    const second = Math.floor(now / 1_000);
    if (second !== last.second) {
      const [date = '', time = ''] = face.format(now).split(' ');
      last = { second, shown: { date, time } };
    }
    return last.shown;
  };
}
