import type { Check } from './audit.ts';
import type { AuditFacts, OpenFile } from './facts.ts';

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
/** A shorter line of memory says nothing about anybody. */
const SHORTEST_MEMORY = 24;
/** Findings of one check; a folder full of them is named once more, as a number. */
const MOST = 10;

/** The workspace: what everybody's turns can read, and who changed what prompts are made of. */
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
    holds: 'No line of MEMORY.md or memory/ stands in an open file.',
    remedy: 'Remove the line, or put "audience: owner" into the front matter of the file.',
    find: ({ workspace: { openFiles, memory } }) => {
      const known = new Set(
        memory
          .flatMap(linesOf)
          .map(folded)
          .filter((line) => line.length >= SHORTEST_MEMORY),
      );
      if (known.size === 0) return [];
      return listed(openFiles, 'stands in the memory, too', (line) => known.has(folded(line)));
    },
  },
  {
    id: 'workspace.prompt-changed',
    severity: 'info',
    holds: 'No agent has changed a file that becomes prompt text in the last 30 days.',
    remedy:
      'Read the file. What stands in it is followed in later turns; changes by commands of exec are not seen here.',
    find: ({ workspace: { promptWrites } }) => {
      const said = promptWrites.map(({ path, tool, conversationId, at, approvedBy }) => {
        const by = approvedBy === null ? 'nobody was asked' : `approved by ${approvedBy}`;
        const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
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
  words: string,
  isFound: (line: string) => boolean,
): readonly string[] {
  const found = files.flatMap(({ name, text }) => {
    const lines = linesOf(text).flatMap((line, at) => (isFound(line) ? [at + 1] : []));
    if (lines.length === 0) return [];
    const rest = lines.length === 1 ? '' : ` (and ${lines.length - 1} more)`;
    return [`${name}, line ${lines[0]}${rest}: ${words}.`];
  });
  return bounded(found);
}

function bounded(found: readonly string[]): readonly string[] {
  if (found.length <= MOST) return found;
  return [...found.slice(0, MOST), `And ${found.length - MOST} more.`];
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
