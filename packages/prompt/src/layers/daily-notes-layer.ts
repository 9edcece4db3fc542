import { absent, type Layer } from '../layer.ts';
import { narrowestAudience } from './narrowest-audience.ts';

/** The notes of today and yesterday, `memory/YYYY-MM-DD.md`; in the main session alone (P08, W02). */
export const dailyNotesLayer: Layer = {
  id: 'daily-notes',
  volatility: 'session',
  placement: 'system',
  reads: ['memory/'],
  async render({ view, facts, reader }, { heading = '## Daily Notes', characters }) {
    const days = [
      { day: 'yesterday', file: `memory/${dayBefore(facts.date)}.md` },
      { day: 'today', file: `memory/${facts.date}.md` },
    ];
    const read = await Promise.all(
      days.map(async ({ day, file }) => ({ day, note: await view.read(file, characters) })),
    );
    const found = read.flatMap(({ day, note }) => (note.kind === 'file' ? [{ day, note }] : []));
    if (found.length === 0) {
      return absent(read.map(({ day, note }) => `${day}: ${reasonFor(note)}`).join('; '));
    }
    const sections = found.map(({ day, note }) => `### ${note.source} (${day})\n${note.text}`);
    const notes = found.map(({ note }) => note);
    return {
      text: `${heading}\n${sections.join('\n\n')}`,
      source: notes.map(({ source }) => source).join(', '),
      audience: narrowestAudience(notes, reader),
      cut: notes.find(({ cut }) => cut !== null)?.cut ?? null,
    };
  },
};

/** The day before `YYYY-MM-DD`; calendar days have no time zone. */
function dayBefore(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString().slice(0, 10);
}

function reasonFor(note: { readonly kind: string; readonly reason?: string }): string {
  return note.reason ?? note.kind;
}
