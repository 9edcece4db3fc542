import { relative } from 'node:path';
import type { Check, Graded } from './audit.ts';
import type { AuditFacts, FileFact } from './facts.ts';

const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const OTHERS = 0o077;

/** The bits that a file must not have, by what it is. */
function forbiddenBits({ kind, isOwnGroup }: FileFact): number {
  if (kind === 'skills' || kind === 'plugin') {
    // Of a group that has the person's own name and nobody else, as many systems make one.
    return isOwnGroup ? OTHERS_WRITE : GROUP_WRITE | OTHERS_WRITE;
  }
  return OTHERS;
}

/** The modes that `parley audit --fix` sets: nothing but bits that must not be there is taken away. */
export function modesToFix(
  facts: AuditFacts,
): readonly { readonly path: string; readonly from: number; readonly to: number }[] {
  return facts.files.flatMap((file) => {
    const to = file.mode & ~forbiddenBits(file);
    const isOurs = facts.uid === null || file.uid === facts.uid;
    return to === file.mode || !isOurs ? [] : [{ path: file.path, from: file.mode, to }];
  });
}

const FIX = 'Run "parley audit --fix", which takes these rights away from others.';

/** Files and folders: who can read and change them. */
export const FILE_CHECKS: readonly Check[] = [
  modeCheck('data', {
    id: 'files.data-mode',
    severity: 'warning',
    holds: 'No other user of the machine can enter the data folder.',
  }),
  modeCheck('settings', {
    id: 'files.settings-mode',
    severity: 'warning',
    holds: 'No other user can read or change the settings and profiles.',
  }),
  modeCheck('token', {
    id: 'files.token-mode',
    severity: 'critical',
    holds: 'No other user can read the token of the web page.',
  }),
  modeCheck('database', {
    id: 'files.database-mode',
    severity: 'critical',
    holds: 'No other user can read the database and its side files.',
  }),
  modeCheck('backup', {
    id: 'files.backup-mode',
    severity: 'critical',
    holds: 'No other user can read backups and what a restore put aside.',
  }),
  modeCheck('workspace', {
    id: 'files.workspace-mode',
    severity: 'warning',
    holds: 'No other user can enter the workspace.',
  }),
  modeCheck('other', {
    id: 'files.other-mode',
    severity: 'warning',
    holds: 'No other user can read anything else that lies in the data folder.',
  }),
  modeCheck('skills', {
    id: 'files.skills-mode',
    severity: 'critical',
    holds: 'No other user can change the folders that skills are read from.',
  }),
  modeCheck('plugin', {
    id: 'files.plugins-mode',
    severity: 'critical',
    holds: 'No other user can change the code of plugins.',
  }),
  {
    id: 'files.owner',
    severity: 'critical',
    holds: 'All these files belong to the user of the data folder, or to root.',
    remedy: 'Give them back with chown, and find out who put them there.',
    find: ({ files }) => {
      const owner = files.find(({ kind }) => kind === 'data')?.uid;
      if (owner === undefined) return [];
      return files
        .filter(({ uid }) => uid !== owner && uid !== 0)
        .map(({ path, uid }) => `${path} belongs to another user (${uid} instead of ${owner}).`);
    },
  },
  {
    id: 'files.secrets-in-clear',
    severity: 'warning',
    holds: 'Secrets stand in the environment or in files of their own, not in the settings.',
    remedy:
      'Name an environment variable or a file in its place (docs/deploy.md), and make a new secret if others have read the file.',
    find: ({ clearSecrets }) =>
      clearSecrets.map((path) => `${path} stands in the settings in clear.`),
  },
  {
    id: 'files.plugins-outside',
    severity: 'warning',
    holds: 'Plugins lie in the data folder, or are installed packages.',
    remedy:
      'Move the plugin into the data folder: what others may change runs with all your rights.',
    find: ({ plugins, dataFolder }) =>
      plugins.flatMap(({ use, folder }): (string | Graded)[] => {
        if (folder === null) {
          const found = `The plugin ${use} is an installed package: its updates change your Parley.`;
          return [{ found, severity: 'info' }];
        }
        const isInside = !relative(dataFolder, folder).startsWith('..');
        return isInside ? [] : [`The plugin ${use} lies in ${folder}, outside the data folder.`];
      }),
  },
];

function modeCheck(kind: FileFact['kind'], check: Pick<Check, 'id' | 'severity' | 'holds'>): Check {
  return {
    ...check,
    remedy: FIX,
    find: ({ files }) =>
      files
        .filter((file) => file.kind === kind && (file.mode & forbiddenBits(file)) !== 0)
        .map((file) => {
          const isWritten = (file.mode & forbiddenBits(file) & (GROUP_WRITE | OTHERS_WRITE)) !== 0;
          const words = isWritten ? 'change' : 'read';
          const found = `Other users can ${words} ${file.path} (mode ${octal(file.mode)}).`;
          return { found, severity: isWritten ? 'critical' : check.severity };
        }),
  };
}

/** `0644`. */
export function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}
