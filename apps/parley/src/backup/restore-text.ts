import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { countOf } from '../read-settings.ts';
import type { RestoreDone } from './restore-backup.ts';

/** What was put back, where the old state is, and what has to be known. */
export function restoreText(done: RestoreDone, folder: DataFolder): string {
  const { manifest, rows, files, jobs, aside, asideFolder, carried } = done;
  const gone = carried?.kind === 'carried' ? carried.letters : { unanswered: 0, uncertain: 0 };
  const [turns, parts] = [done.turns - gone.unanswered, done.parts - gone.uncertain];
  const made = new Date(manifest.madeAt).toISOString().slice(0, 16).replace('T', ' ');
  const held = [
    ...(turns > 0 ? [countOf(turns, 'unanswered conversation')] : []),
    ...(parts > 0 ? [`${countOf(parts, 'part')} of answers`] : []),
  ];
  return [
    `Restored what was there at ${made} UTC: ${countOf(rows, 'row')} and ${countOf(files, 'file')}.`,
    ...(asideFolder === null ? [] : [`The files from before are in ${asideFolder}.`]),
    ...(aside === null
      ? []
      : [`The tables from before are in the schema ${aside} of the database.`]),
    ...(done.usedSettings || !done.hasSettings
      ? []
      : ['The settings were left as they are; --with-settings takes those of the backup.']),
    ...carriedText(carried),
    ...(held.length === 0
      ? []
      : [
          `Held back, since it may have been done after the backup: ${held.join(' and ')}. "${commandLine('dead list', folder)}" shows it.`,
        ]),
    ...(jobs > 0 ? [`Paused, since they were due meanwhile: ${countOf(jobs, 'reminder')}.`] : []),
    'What was written since the backup is not known any more; WhatsApp may have to be linked again.',
  ].join('\n');
}

function carriedText(carried: RestoreDone['carried']): readonly string[] {
  if (carried === null) return [];
  if (carried.kind === 'unreadable') {
    return [
      `What waited in the database from before could not be carried over (${carried.reason}): who waits for an answer has to ask again.`,
    ];
  }
  const { messages, parts } = carried;
  if (messages + parts === 0) return [];
  const what = [
    ...(messages > 0 ? [countOf(messages, 'unanswered message')] : []),
    ...(parts > 0 ? [`${countOf(parts, 'part')} of answers`] : []),
  ];
  return [`Carried over, since people wait for it: ${what.join(' and ')}.`];
}
