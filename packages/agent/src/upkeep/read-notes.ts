import type { WorkspaceView } from '@parley/workspace';
import { dayBefore } from '../context/yesterday-source.ts';
import type { DailyNote } from './note-lines.ts';

/** Notes that are read (H07). At three in the morning that of today says little yet, so one day more is looked at. */
const NOTES = 7;
const WHOLE_FILE = 100_000;

/** The last seven daily notes up to `today`, the oldest first, as far as this reader may see them. */
export async function lastNotes(view: WorkspaceView, today: string): Promise<readonly DailyNote[]> {
  const found: DailyNote[] = [];
  let date = today;
  for (let back = 0; back <= NOTES && found.length < NOTES; back += 1) {
    const file = await view.read(`memory/${date}.md`, WHOLE_FILE);
    if (file.kind === 'file') found.push({ date, text: file.text });
    date = dayBefore(date);
  }
  return found.reverse();
}
