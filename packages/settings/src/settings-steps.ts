import type { SettingsPath } from './source.ts';

/**
 * One change to a settings file; `*` in a path stands for any key. `move` gives a key another name
 * or section, with its comments; `change` writes another value. Neither changes anything when the
 * source is missing or the target already exists.
 */
export type SettingsEdit =
  | { readonly kind: 'move'; readonly from: SettingsPath; readonly to: SettingsPath }
  | {
      readonly kind: 'change';
      readonly at: SettingsPath;
      readonly value: (before: unknown) => unknown;
    };

/** Upgrades a file of the previous version to version `to`. */
export interface SettingsStep {
  readonly to: number;
  readonly edits: readonly SettingsEdit[];
}

/** Renames a key within its section, given as `section.old` and `new`. */
function rename(path: string, name: string): SettingsEdit {
  const from = path.split('.');
  return { kind: 'move', from, to: from.with(-1, name) };
}

/** Renames a key in a section that an agent in `agents` may also have. */
function renameAlsoOfAgents(path: string, name: string): readonly SettingsEdit[] {
  return [rename(path, name), rename(`agents.*.${path}`, name)];
}

function notifyInsteadOfTell(path: string): SettingsEdit {
  return {
    kind: 'change',
    at: path.split('.'),
    value: (word) => (word === 'tell' ? 'notify' : word),
  };
}

/** All upgrade steps that ever existed, in order, starting at version 1. */
export const SETTINGS_STEPS: readonly SettingsStep[] = [
  {
    to: 2,
    edits: [
      ...renameAlsoOfAgents('heartbeat.tell', 'notify'),
      ...renameAlsoOfAgents('heartbeat.quietCharacters', 'quietMaxCharacters'),
      ...renameAlsoOfAgents('heartbeat.upkeepNotes', 'memoryUpkeepDays'),
      rename('hooks.*.does', 'action'),
      rename('media.pictureSide', 'maxImageDimension'),
      rename('agent.prompt.filesInAll', 'totalFileCharacters'),
      rename('agents.*.prompt.filesInAll', 'totalFileCharacters'),
      rename('limits.waitingInAll', 'totalWaiting'),
      rename('limits.subAgents.atOnce', 'concurrent'),
      rename('limits.answer.thoughtCharacters', 'reasoningCharacters'),
      rename('cron.leastMinutes', 'minMinutes'),
      rename('http.sessions.longestDays', 'maxDays'),
      notifyInsteadOfTell('channels.*.whenUncertain'),
      notifyInsteadOfTell('channels.*.accounts.*.whenUncertain'),
    ],
  },
];

/** The settings version that this version of Parley writes. */
export function newestVersion(steps: readonly SettingsStep[]): number {
  return steps.at(-1)?.to ?? 1;
}

/**
 * The target of a `move` for a path that matches its `from`. Each `*` in `to` is replaced by the
 * path's key.
 */
export function movedPath(
  { to }: Extract<SettingsEdit, { kind: 'move' }>,
  path: SettingsPath,
): SettingsPath {
  return to.map((key, nth) => (key === '*' ? (path[nth] ?? key) : key));
}

/** The current name of a key from an older version; undefined when no step renames it. */
export function renamedPath(
  path: SettingsPath,
  steps: readonly SettingsStep[] = SETTINGS_STEPS,
): SettingsPath | undefined {
  const moves = steps.flatMap(({ edits }) => edits.filter((edit) => edit.kind === 'move'));
  const found = moves.find(
    ({ from }) =>
      from.length === path.length && from.every((key, nth) => key === '*' || key === path[nth]),
  );
  return found && movedPath(found, path);
}
