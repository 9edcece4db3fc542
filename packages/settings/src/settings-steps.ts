import type { SettingsPath } from './source.ts';

/**
 * One change to a settings file; `*` in a path matches any key. `move` moves a key to another name
 * or section, with its comments; `change` writes another value. An edit has no effect when the
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
export interface SettingsMigration {
  readonly to: number;
  readonly edits: readonly SettingsEdit[];
}

/** Renames a key within its section, given as `section.old` and `new`. */
function renameKey(path: string, name: string): SettingsEdit {
  const from = path.split('.');
  return { kind: 'move', from, to: from.with(-1, name) };
}

/** Renames a key in a section that an agent in `agents` may also have. */
function renameKeyInAgents(path: string, name: string): readonly SettingsEdit[] {
  return [renameKey(path, name), renameKey(`agents.*.${path}`, name)];
}

function renameTellToNotify(path: string): SettingsEdit {
  return {
    kind: 'change',
    at: path.split('.'),
    value: (word) => (word === 'tell' ? 'notify' : word),
  };
}

/** All upgrade steps, in order, starting at version 1. */
export const SETTINGS_STEPS: readonly SettingsMigration[] = [
  {
    to: 2,
    edits: [
      ...renameKeyInAgents('heartbeat.tell', 'notify'),
      ...renameKeyInAgents('heartbeat.quietCharacters', 'quietMaxCharacters'),
      ...renameKeyInAgents('heartbeat.upkeepNotes', 'memoryUpkeepDays'),
      renameKey('hooks.*.does', 'action'),
      renameKey('media.pictureSide', 'maxImageDimension'),
      renameKey('agent.prompt.filesInAll', 'totalFileCharacters'),
      renameKey('agents.*.prompt.filesInAll', 'totalFileCharacters'),
      renameKey('limits.waitingInAll', 'totalWaiting'),
      renameKey('limits.subAgents.atOnce', 'concurrent'),
      renameKey('limits.answer.thoughtCharacters', 'reasoningCharacters'),
      renameKey('cron.leastMinutes', 'minMinutes'),
      renameKey('http.sessions.longestDays', 'maxDays'),
      renameTellToNotify('channels.*.whenUncertain'),
      renameTellToNotify('channels.*.accounts.*.whenUncertain'),
    ],
  },
];

/** Returns the settings version that this version of Parley writes. */
export function getNewestVersion(steps: readonly SettingsMigration[]): number {
  return steps.at(-1)?.to ?? 1;
}

/**
 * Returns the target of a `move` for a path that matches its `from`; each `*` in `to` is replaced
 * by the path's key.
 */
export function movePath(
  { to }: Extract<SettingsEdit, { kind: 'move' }>,
  path: SettingsPath,
): SettingsPath {
  return to.map((key, nth) => (key === '*' ? (path[nth] ?? key) : key));
}

/** Finds the current name of a key from an older version; undefined when no step renames it. */
export function findRenamedPath(
  path: SettingsPath,
  steps: readonly SettingsMigration[] = SETTINGS_STEPS,
): SettingsPath | undefined {
  const moves = steps.flatMap(({ edits }) => edits.filter((edit) => edit.kind === 'move'));
  const found = moves.find(
    ({ from }) =>
      from.length === path.length && from.every((key, nth) => key === '*' || key === path[nth]),
  );
  return found && movePath(found, path);
}
