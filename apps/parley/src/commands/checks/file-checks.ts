import { relative } from 'node:path';
import type { AuditSeverity } from '@parley/gateway/api';
import { formatMinute } from '../../terminal/text.ts';
import {
  type Check,
  type CheckFinding,
  defineAuditCheck,
  defineCheck,
  ok,
  skipped,
} from './check.ts';
import type { FileFact } from './file-facts.ts';
import type { OpenFile } from './workspace-facts.ts';

const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const OTHERS = 0o077;

/** Returns the mode bits that a file of this kind must not have. */
function getForbiddenBits({ kind, isOwnGroup }: FileFact): number {
  if (kind === 'skills' || kind === 'plugin') {
    // Many systems create a private group with the user's name and no other members.
    return isOwnGroup ? OTHERS_WRITE : GROUP_WRITE | OTHERS_WRITE;
  }
  return OTHERS;
}

const MODES: readonly (readonly [FileFact['kind'], AuditSeverity, string])[] = [
  ['data', 'warning', 'Other users of this machine cannot enter the data folder.'],
  ['settings', 'warning', 'Other users cannot read or change the settings and profiles.'],
  ['token', 'critical', "Other users cannot read the web page's token or the MCP sign-ins."],
  [
    'database',
    'critical',
    'Other users cannot read the database and the files that SQLite keeps beside it.',
  ],
  [
    'backup',
    'critical',
    'Other users cannot read backups or the files that a restore moved aside.',
  ],
  ['workspace', 'warning', 'Other users cannot enter the workspace.'],
  ['other', 'warning', 'Other users cannot read the other files in the data folder.'],
  ['skills', 'critical', 'Other users cannot change the folders that contain skills.'],
  ['plugin', 'critical', 'Other users cannot change the code of plugins.'],
];

export const FILE_CHECKS: readonly Check[] = [
  ...MODES.map((row) => createModeCheck(...row)),
  defineAuditCheck('files', {
    id: 'files.owner',
    severity: 'critical',
    title: 'All these files belong to the owner of the data folder or to root.',
    advice: 'Change the owner with chown, and find out who created these files.',
    run: ({ files }) => {
      const owner = files.find(({ kind }) => kind === 'data')?.uid;
      if (owner === undefined) return [];
      return files
        .filter(({ uid }) => uid !== owner && uid !== 0)
        .map(({ path, uid }) => `${path} belongs to another user (${uid} instead of ${owner}).`);
    },
  }),
  defineAuditCheck('settings', {
    id: 'files.secrets-in-clear',
    severity: 'warning',
    title: 'Secrets are stored in environment variables or separate files, not in the settings.',
    advice:
      'Use an environment variable or a file instead (docs/deploy.md), and create a new secret if others may have read the file.',
    run: ({ clearSecrets }) =>
      clearSecrets.map((path) => `${path} is stored in plain text in the settings.`),
  }),
  defineAuditCheck('settings', {
    id: 'files.plugins-outside',
    severity: 'warning',
    title: 'Each plugin is in the data folder or is an installed package.',
    advice:
      'Move the plugin into the data folder. If others can change its code, that code runs with all your rights.',
    run: ({ plugins, folder: { path: dataFolder } }) =>
      plugins.flatMap(({ use, folder }): (string | CheckFinding)[] => {
        if (folder === null) {
          const found = `The plugin ${use} is an installed package, so its updates change your installation.`;
          return [{ found, severity: 'info' }];
        }
        const isInside = !relative(dataFolder, folder).startsWith('..');
        return isInside ? [] : [`The plugin ${use} is in ${folder}, outside the data folder.`];
      }),
  }),
];

function createModeCheck(kind: FileFact['kind'], severity: AuditSeverity, title: string): Check {
  return defineAuditCheck('files', {
    id: `files.${kind === 'plugin' ? 'plugins' : kind}-mode`,
    severity,
    title,
    advice: 'Run "parley audit --fix", which removes these permissions.',
    run: ({ files, uid }) =>
      files
        .filter((file) => file.kind === kind && (file.mode & getForbiddenBits(file)) !== 0)
        .map((file): CheckFinding => {
          const { path, mode: from } = file;
          const isWritten = (from & getForbiddenBits(file) & (GROUP_WRITE | OTHERS_WRITE)) !== 0;
          const verb = isWritten ? 'change' : 'read';
          const isOurs = uid === null || file.uid === uid;
          return {
            severity: isWritten ? 'critical' : severity,
            found: `Other users can ${verb} ${path} (mode ${formatOctal(from)}).`,
            // A repair only removes forbidden permission bits.
            ...(isOurs && { repair: { path, from, to: from & ~getForbiddenBits(file) } }),
          };
        }),
  });
}

export function formatOctal(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}

/** Patterns of keys and tokens. Secrets in the settings are matched by value instead. */
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
/**
 * Matches a phone number with a country code: a plus sign and at least eight digits, with the usual
 * separators.
 */
const PHONE = /(?<![\w+])\+[1-9](?:[ ()./-]{0,2}\d){7,14}(?!\d)/;
const MIN_MEMORY = 24;
const MAX_NAMED = 10;

export const WORKSPACE_CHECKS: readonly Check[] = [
  defineAuditCheck('workspace', {
    id: 'workspace.open-keys',
    severity: 'critical',
    title: 'Files that others can read do not contain keys or tokens.',
    advice:
      'Remove the key and create a new one, or put "audience: owner" into the file\'s front matter.',
    run: ({ workspace: { openFiles }, secrets }) =>
      listMatchingFiles(openFiles, 'looks like a key or token', (line) =>
        containsKey(line, secrets),
      ),
  }),
  defineAuditCheck('workspace', {
    id: 'workspace.open-phones',
    severity: 'warning',
    title: 'Files that others can read do not contain phone numbers.',
    advice: 'Remove the number, or put "audience: owner" into the file\'s front matter.',
    run: ({ workspace: { openFiles } }) =>
      listMatchingFiles(openFiles, 'contains a phone number', (line) => PHONE.test(line)),
  }),
  defineAuditCheck('workspace', {
    id: 'workspace.open-memory',
    severity: 'critical',
    title: 'Files that others can read do not repeat lines from MEMORY.md or memory/.',
    advice: 'Remove the line, or put "audience: owner" into the file\'s front matter.',
    run: ({ workspace: { openFiles, memory } }) => {
      const known = new Set(
        memory
          .flatMap(splitLines)
          .map(normalizeLine)
          .filter((line) => line.length >= MIN_MEMORY),
      );
      if (known.size === 0) return [];
      return listMatchingFiles(openFiles, "also appears in the agent's memory", (line) =>
        known.has(normalizeLine(line)),
      );
    },
  }),
  defineAuditCheck('database', {
    id: 'workspace.prompt-changed',
    severity: 'info',
    title: 'No agent has changed a prompt file in the last 30 days.',
    advice:
      'Read the file, because later turns follow it. This check does not see changes made by exec commands.',
    run: ({ agent, promptWrites }) => {
      const own = promptWrites.filter(({ writer }) => writer === agent);
      const said = own.map(({ path, tool, conversationId, at, approvedBy }) => {
        const by = approvedBy === null ? 'no approval was requested' : `approved by ${approvedBy}`;
        const when = formatMinute(at);
        return `${path}: ${tool} on ${when} UTC in ${conversationId}, ${by}.`;
      });
      return limitListedNames(said);
    },
  }),
  defineAuditCheck('workspace', {
    id: 'workspace.symlinks',
    severity: 'warning',
    title: 'The workspace does not contain symbolic links.',
    advice: 'Replace it with a copy. Parley does not follow it, but other programs do.',
    run: ({ workspace: { symlinks } }) =>
      limitListedNames(symlinks.map((name) => `${name} is a symbolic link.`)),
  }),
  defineAuditCheck('workspace', {
    id: 'workspace.hardlinks',
    severity: 'warning',
    title: 'Files in the workspace do not have additional hard links.',
    advice:
      'Copy the file and remove the original. Otherwise, writing to its other name changes this file. Until then, Parley shows it only to the owner.',
    run: ({ workspace: { hardlinks } }) =>
      limitListedNames(hardlinks.map((name) => `${name} is also linked under another name.`)),
  }),
  defineCheck('workspace', {
    id: 'workspace.encodings',
    doctorName: 'files',
    severity: 'warning',
    title: 'The encoding of every Markdown file in the workspace could be determined.',
    advice:
      'Save the file as UTF-8 in your editor. A file that cannot be read is left out of the prompt.',
    run({ workspace: { isThere, encodings } }) {
      if (!isThere) return [skipped('there is no workspace yet')];
      if (encodings.length > 0) return limitListedNames(encodings);
      return [ok('every Markdown file is read as it was written')];
    },
  }),
  defineAuditCheck('workspace', {
    id: 'workspace.not-looked-at',
    severity: 'info',
    title: 'The whole workspace was examined.',
    advice: 'Check the remaining files yourself, or move unrelated files out of the workspace.',
    run: ({ workspace: { isCut } }) =>
      isCut ? ['The workspace is too large; the audit read only part of it.'] : [],
  }),
];

function listMatchingFiles(
  files: readonly OpenFile[],
  finding: string,
  isFound: (line: string) => boolean,
): readonly string[] {
  const found = files.flatMap(({ name, text }) => {
    const lines = splitLines(text).flatMap((line, at) => (isFound(line) ? [at + 1] : []));
    if (lines.length === 0) return [];
    const rest = lines.length === 1 ? '' : ` (and ${lines.length - 1} more)`;
    return [`${name}, line ${lines[0]}${rest}: ${finding}.`];
  });
  return limitListedNames(found);
}

function limitListedNames(found: readonly string[]): readonly string[] {
  if (found.length <= MAX_NAMED) return found;
  return [...found.slice(0, MAX_NAMED), `And ${found.length - MAX_NAMED} more.`];
}

function containsKey(line: string, secrets: readonly string[]): boolean {
  return KEYS.some((look) => look.test(line)) || secrets.some((secret) => line.includes(secret));
}

function splitLines(text: string): readonly string[] {
  return text.split('\n');
}

/**
 * Removes list markers and memory ids and evens out the spelling, so that a copied line is
 * recognized.
 */
function normalizeLine(line: string): string {
  return line
    .replace(/<!--.*?-->/g, '')
    .replace(/^[\s>*+#-]+/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
