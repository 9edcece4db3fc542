import { relative } from 'node:path';
import type { AuditSeverity } from '@parley/gateway/api';
import { minuteText } from '../../terminal/text.ts';
import type { AuditFacts, Check, FileFact, Graded, OpenFile } from './facts.ts';

const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const OTHERS = 0o077;

/** The bits that a file must not have, by what it is. */
function forbiddenBits({ kind, isOwnGroup }: FileFact): number {
  if (kind === 'skills' || kind === 'plugin') {
    // A group with the name of the user and no other members, as many systems make one.
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

const MODES: readonly (readonly [FileFact['kind'], AuditSeverity, string])[] = [
  ['data', 'warning', 'No other user of the machine can enter the data folder.'],
  ['settings', 'warning', 'No other user can read or change the settings and profiles.'],
  [
    'token',
    'critical',
    'No other user can read the token of the web page and sign-ins at MCP servers.',
  ],
  ['database', 'critical', 'No other user can read the database and its side files.'],
  ['backup', 'critical', 'No other user can read backups and what a restore put aside.'],
  ['workspace', 'warning', 'No other user can enter the workspace.'],
  ['other', 'warning', 'No other user can read anything else that lies in the data folder.'],
  ['skills', 'critical', 'No other user can change the folders that skills are read from.'],
  ['plugin', 'critical', 'No other user can change the code of plugins.'],
];

export const FILE_CHECKS: readonly Check[] = [
  ...MODES.map(([kind, severity, holds]) => modeCheck(kind, severity, holds)),
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
    holds: 'Secrets are in the environment or in files of their own, not in the settings.',
    remedy:
      'Name an environment variable or a file in its place (docs/deploy.md), and make a new secret if others have read the file.',
    find: ({ clearSecrets }) => clearSecrets.map((path) => `${path} is in the settings in clear.`),
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

function modeCheck(kind: FileFact['kind'], severity: AuditSeverity, holds: string): Check {
  return {
    id: `files.${kind === 'plugin' ? 'plugins' : kind}-mode`,
    severity,
    holds,
    remedy: 'Run "parley audit --fix", which takes these rights away from others.',
    find: ({ files }) =>
      files
        .filter((file) => file.kind === kind && (file.mode & forbiddenBits(file)) !== 0)
        .map((file) => {
          const isWritten = (file.mode & forbiddenBits(file) & (GROUP_WRITE | OTHERS_WRITE)) !== 0;
          const verb = isWritten ? 'change' : 'read';
          const found = `Other users can ${verb} ${file.path} (mode ${octal(file.mode)}).`;
          return { found, severity: isWritten ? 'critical' : severity };
        }),
  };
}

export function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}

/** Keys and tokens by their look, besides those of the settings, which are known by value. */
const KEYS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/,
  /\bgithub_pat_\w{30,}/,
  /\bglpat-[\w-]{20,}/,
  /\bxox[abprs]-[\w-]{10,}/,
  /\bAIza[\w-]{30,}/,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/,
  /(?<!\d)\d{6,}:[A-Za-z0-9_-]{30,}/,
];
/** With the code of a country: a plus and at least eight digits, with the usual characters between them. */
const PHONE = /(?<![\w+])\+[1-9](?:[ ()./-]{0,2}\d){7,14}(?!\d)/;
const MIN_MEMORY = 24;
const MAX_NAMED = 10;

export const WORKSPACE_CHECKS: readonly Check[] = [
  {
    id: 'workspace.open-keys',
    severity: 'critical',
    holds: 'No open file holds a key or token.',
    remedy:
      'Remove it, make a new one, or put "audience: owner" into the front matter of the file.',
    find: ({ workspace: { openFiles }, secrets }) =>
      listed(openFiles, 'looks like a key or token', (line) => holdsKey(line, secrets)),
  },
  {
    id: 'workspace.open-phones',
    severity: 'warning',
    holds: 'No open file holds a phone number.',
    remedy: 'Remove it, or put "audience: owner" into the front matter of the file.',
    find: ({ workspace: { openFiles } }) =>
      listed(openFiles, 'holds a phone number', (line) => PHONE.test(line)),
  },
  {
    id: 'workspace.open-memory',
    severity: 'critical',
    holds: 'No line of MEMORY.md or memory/ is in an open file.',
    remedy: 'Remove the line, or put "audience: owner" into the front matter of the file.',
    find: ({ workspace: { openFiles, memory } }) => {
      const known = new Set(
        memory
          .flatMap(linesOf)
          .map(folded)
          .filter((line) => line.length >= MIN_MEMORY),
      );
      if (known.size === 0) return [];
      return listed(openFiles, 'is in the memory, too', (line) => known.has(folded(line)));
    },
  },
  {
    id: 'workspace.prompt-changed',
    severity: 'info',
    holds: 'No agent has changed a file that becomes prompt text in the last 30 days.',
    remedy:
      'Read the file. Its text is followed in later turns; changes by commands of exec are not seen here.',
    find: ({ workspace: { promptWrites } }) => {
      const said = promptWrites.map(({ path, tool, conversationId, at, approvedBy }) => {
        const by = approvedBy === null ? 'no one was asked' : `approved by ${approvedBy}`;
        const when = minuteText(at);
        return `${path}: ${tool} on ${when} UTC in ${conversationId}, ${by}.`;
      });
      return bounded(said);
    },
  },
  {
    id: 'workspace.symlinks',
    severity: 'warning',
    holds: 'The workspace holds no symbolic links.',
    remedy: 'Replace it by a copy. Parley does not follow it, but other programs do.',
    find: ({ workspace: { symlinks } }) =>
      bounded(symlinks.map((name) => `${name} is a symbolic link.`)),
  },
  {
    id: 'workspace.hardlinks',
    severity: 'warning',
    holds: 'No file of the workspace has a second name (a hard link).',
    remedy:
      'Copy it and remove the original: writing to the other name changes this file. Parley treats it as the owner’s.',
    find: ({ workspace: { hardlinks } }) =>
      bounded(hardlinks.map((name) => `${name} has a second name.`)),
  },
  {
    id: 'workspace.encodings',
    severity: 'warning',
    holds: 'Every Markdown file of the workspace is read without doubt about its encoding.',
    remedy: 'Save it as UTF-8 in your editor. A file that cannot be read is not in the prompt.',
    find: ({ workspace: { encodings } }) => bounded(encodings),
  },
  {
    id: 'workspace.not-looked-at',
    severity: 'info',
    holds: 'The whole workspace was looked at.',
    remedy: 'Look at the rest yourself, or move what is no workspace file elsewhere.',
    find: ({ workspace: { isCut } }) =>
      isCut ? ['The workspace is larger than what the audit reads.'] : [],
  },
];

function listed(
  files: readonly OpenFile[],
  finding: string,
  isFound: (line: string) => boolean,
): readonly string[] {
  const found = files.flatMap(({ name, text }) => {
    const lines = linesOf(text).flatMap((line, at) => (isFound(line) ? [at + 1] : []));
    if (lines.length === 0) return [];
    const rest = lines.length === 1 ? '' : ` (and ${lines.length - 1} more)`;
    return [`${name}, line ${lines[0]}${rest}: ${finding}.`];
  });
  return bounded(found);
}

function bounded(found: readonly string[]): readonly string[] {
  if (found.length <= MAX_NAMED) return found;
  return [...found.slice(0, MAX_NAMED), `And ${found.length - MAX_NAMED} more.`];
}

function holdsKey(line: string, secrets: AuditFacts['secrets']): boolean {
  return KEYS.some((look) => look.test(line)) || secrets.some((secret) => line.includes(secret));
}

function linesOf(text: string): readonly string[] {
  return text.split('\n');
}

/** Without list marks, ids of memories and spelling that hides a copy. */
function folded(line: string): string {
  return line
    .replace(/<!--.*?-->/g, '')
    .replace(/^[\s>*+#-]+/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
