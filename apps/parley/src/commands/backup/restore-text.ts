import { pluralize } from '@parley/core';
import type { CarryOverResult, HeldWorkCounts } from '@parley/store/backup';
import { type DataFolder, formatCommandLine } from '../../data-folder.ts';
import { formatMinute } from '../../terminal/text.ts';
import type { CheckedBackup } from './contents.ts';

/**
 * Describes what a restore will do, for `--dry-run` and before the confirmation. `pid` is the
 * process id of the running gateway.
 */
export function describePlan(
  { manifest, files }: CheckedBackup,
  pid: number | null,
  folder: DataFolder,
): string {
  return [
    `The backup was made at ${formatMinute(manifest.madeAt)} UTC by Parley ${manifest.parley}. It contains the database and ${pluralize(files, 'file')}.`,
    `Restoring it replaces the database, workspaces and profiles in ${folder.path}. The current files are moved aside, not deleted.`,
    ...(pid === null
      ? []
      : [
          `Parley is running (process ${pid}). It finishes its work and stops before anything is replaced; start it again afterwards.`,
        ]),
    'Everything written after the backup is lost, except messages that are still waiting for an answer.',
    'Backups do not contain the keys in secrets/. On another machine, create them again.',
    'Backups do not contain sign-ins. Afterwards, every browser has to sign in again with "parley token show", and people who were added with "parley people add" have to be added again.',
  ].join('\n');
}

export interface RestoreResult {
  readonly backup: CheckedBackup;
  readonly held: HeldWorkCounts;
  /** The unfinished work that was carried over; null if no database was replaced. */
  readonly carried: CarryOverResult | null;
  /** Whether the settings were restored from the backup. */
  readonly usedSettings: boolean;
  /** Key files that the settings name but that do not exist; backups never contain them. */
  readonly missingSecrets: readonly string[];
  /** The folder that contains the previous state; null if there was none. */
  readonly aside: string | null;
}

/** Describes the result of a restore and the next steps. */
export function describeRestore(done: RestoreResult, folder: DataFolder): string {
  const { backup, held, aside, carried } = done;
  const gone = carried?.kind === 'carried' ? carried.letters : { unanswered: 0, uncertain: 0 };
  const [turns, parts] = [held.turns - gone.unanswered, held.parts - gone.uncertain];
  const heldBack = describeUnfinishedWork(turns, 'unanswered conversation', parts);
  return [
    `Restored the database and ${pluralize(backup.files, 'file')} from ${formatMinute(backup.manifest.madeAt)} UTC.`,
    ...(aside === null ? [] : [`The previous files are in ${aside}.`]),
    ...(done.usedSettings || !backup.hasSettings
      ? []
      : ['The settings were not changed; use --with-settings to restore them from the backup.']),
    ...describeCarriedWork(carried),
    ...(heldBack === ''
      ? []
      : [
          `Held back because it may have been done after the backup: ${heldBack}. To list it, run "${formatCommandLine('dead list', folder)}".`,
        ]),
    ...(held.jobs > 0
      ? [`Paused because they became due in the meantime: ${pluralize(held.jobs, 'reminder')}.`]
      : []),
    'Everything written since the backup is lost; WhatsApp may have to be linked again.',
    ...describeKeys(done.missingSecrets),
    `Start Parley with "${formatCommandLine('start', folder)}", or start its service if you installed one.`,
  ].join('\n');
}

/** Lists the keys that have to be created again before Parley can start. */
function describeKeys(files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  return [
    'Backups do not contain keys, and the settings name key files that do not exist. Create each file with its key, readable only by you:',
    ...files.map((file) => `  ${file}`),
  ];
}

function describeCarriedWork(carried: RestoreResult['carried']): readonly string[] {
  if (carried === null) return [];
  if (carried.kind === 'unreadable') {
    return [
      `Unfinished work from the previous database could not be carried over (${carried.reason}). People who are waiting for an answer have to ask again.`,
    ];
  }
  const what = describeUnfinishedWork(carried.messages, 'unanswered message', carried.parts);
  return what === '' ? [] : [`Carried over because people are waiting for it: ${what}.`];
}

function describeUnfinishedWork(count: number, noun: string, parts: number): string {
  const what = [
    ...(count > 0 ? [pluralize(count, noun)] : []),
    ...(parts > 0 ? [`${pluralize(parts, 'part')} of answers`] : []),
  ];
  return what.join(' and ');
}
