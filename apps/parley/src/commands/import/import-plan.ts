import { pluralize, toDisplayLine } from '@parley/core';
import type { previewTasks } from '@parley/proactive';
import { type FolderSurvey, isMarkdown, isMemoryFile, type SurveyedEntry } from '@parley/workspace';
import { formatContextLine } from '../schedule.ts';

/** What already exists in the workspace under the name of a file to copy. */
export type ExistingFile = 'nothing' | 'the-same' | 'a-template' | 'something';

type ImportedFile = ReturnType<typeof toImportedFile>;
type ImportPlan = ReturnType<typeof planImport>;

const USES: Readonly<Record<string, string>> = {
  'agents.md': 'how the agent works',
  'soul.md': 'its character',
  'user.md': 'the person it works for',
  'identity.md': 'its name, role and emoji',
  'tools.md': 'notes on tools',
  'memory.md': 'what it knows',
  'heartbeat.md': 'standing tasks',
  'boot.md': 'instructions for each session start',
};

/**
 * Markdown files that other people's turns use: they describe the agent and how it works. Text
 * about the owner is removed from these files (W03).
 */
const FOR_EVERYONE: ReadonlySet<string> = new Set(['agents.md', 'soul.md', 'identity.md']);

/**
 * Notes are about the owner, so their copies are marked as visible only to the owner. The mark does
 * not depend on later defaults (W03). Files in memory/ do not need this mark, because only the
 * owner can read them.
 */
export function isMarkedInCopy(name: string): boolean {
  const isOpen = FOR_EVERYONE.has(name.toLowerCase()) || getFirstPathSegment(name) === 'skills';
  return isMarkdown(name) && !isOpen && !isMemoryFile(name);
}

/**
 * Returns whether the file is a USER.md whose copy is visible only to the owner, so that notes
 * about the owner can be appended.
 */
export function canTakeNotes({ name, content }: Pick<SurveyedEntry, 'name' | 'content'>): boolean {
  if (name.toLowerCase() !== 'user.md' || content.kind !== 'markdown') return false;
  return content.declared !== 'everyone' && content.problem === null;
}

/** Files that record when tasks last ran; OpenClaw agents use the one in memory/. */
const STATES: readonly string[] = ['heartbeat-state.json', 'memory/heartbeat-state.json'];

/** Files that only OpenClaw or NeoMAGI uses, keyed by the first component of the path. */
const FOREIGN: Readonly<Record<string, string>> = {
  'bootstrap.md': 'its first conversation is over; only new Parley workspaces have this file',
  'openclaw.json':
    "OpenClaw settings, which may contain secrets; Parley's settings are in parley.yaml",
  'clawdbot.json':
    "OpenClaw settings, which may contain secrets; Parley's settings are in parley.yaml",
  credentials: "secrets; put Parley's own secrets into parley.yaml",
  sessions: 'conversations that Parley cannot continue',
  agents: 'OpenClaw sessions and secrets',
  '.openclaw': "OpenClaw's internal state",
  canvas: 'pages for OpenClaw devices',
  artifacts: "files that NeoMAGI's builder created",
};

/**
 * Decides which files of a folder are imported. The entries in `beside` are also listed; `existing`
 * returns what the workspace already contains.
 */
export function planImport(
  survey: FolderSurvey,
  beside: readonly string[],
  existing: (name: string) => ExistingFile,
  split: ReadonlySet<string>,
) {
  const used: ImportedFile[] = [];
  const ignored = beside.map((name) => ({
    name: `../${name}`,
    why: FOREIGN[name.toLowerCase()] ?? 'not part of the workspace',
  }));
  for (const entry of survey.entries) {
    const why = findExclusionReason(entry);
    if (why === null) {
      used.push(toImportedFile(entry, existing(entry.name), split.has(entry.name)));
    } else ignored.push({ name: entry.name, why });
  }
  return { used, ignored, skills: survey.skills, isCut: survey.isCut };
}

function findExclusionReason({ name, content }: SurveyedEntry): string | null {
  const foreign = FOREIGN[getFirstPathSegment(name)];
  if (foreign !== undefined) return foreign;
  switch (content.kind) {
    case 'hidden':
      return findHiddenReason(name);
    case 'refused':
      return content.reason;
    case 'markdown':
      return null;
    case 'other':
      // Scripts and references in a skill's folder are part of the skill.
      return getFirstPathSegment(name) === 'skills' || STATES.includes(name)
        ? null
        : 'a workspace contains only Markdown and skills';
  }
}

function findHiddenReason(name: string): string {
  const last = name.split('/').at(-1) ?? name;
  if (last === '.git') return 'the Git history stays with the original folder';
  if (last === '.env') return "secrets; put Parley's own secrets into parley.yaml";
  if (last === 'node_modules') return 'packages are not part of a workspace';
  return 'hidden';
}

/**
 * `use` describes what the file is for; files with `isPrivate` are shown only in the owner's direct
 * chats. `isMarked` means that the front matter of the copy restricts the file to the owner.
 * `remark` is a note for the owner.
 */
function toImportedFile(
  { name, bytes, content }: SurveyedEntry,
  existing: ExistingFile,
  isSplit: boolean,
) {
  const isMarkdown = content.kind === 'markdown';
  const isMarked =
    isMarkdown && isMarkedInCopy(name) && !content.problem && content.declared !== 'everyone';
  const isPrivate =
    isMarked || STATES.includes(name) || (isMarkdown && content.audience === 'owner');
  const use = describeUse(name);
  const isOwnersProfile = canTakeNotes({ name, content });
  const remark = isSplit ? SPLIT_REMARK : findRemark(content);
  return { name, bytes, use, isPrivate, isMarked, remark, existing, isOwnersProfile };
}

const SPLIT_REMARK = 'what it says about you is moved to the owner’s notes';

function describeUse(name: string): string {
  if (STATES.includes(name)) return 'when its tasks last ran';
  const known = USES[name.toLowerCase()];
  if (known !== undefined) return known;
  switch (getFirstPathSegment(name)) {
    case 'memory':
      return /^memory\/\d{4}-\d\d-\d\d\.md$/i.test(name) ? 'a daily note' : 'a note';
    case 'skills':
      return 'part of a skill';
    default:
      return 'a note that the agent can look up';
  }
}

function findRemark(content: SurveyedEntry['content']): string | null {
  if (content.kind !== 'markdown') return null;
  if (content.problem !== null)
    return `visible only to the owner until this is fixed: ${content.problem}`;
  if (content.isBlank) return 'says nothing yet';
  return content.warning;
}

function getFirstPathSegment(name: string): string {
  return (name.split('/')[0] ?? '').toLowerCase();
}

/** Folders for which only the number of files is listed. */
const SUMMED = ['memory', 'skills', 'knowledge'];

/** `heartbeat` describes the tasks in HEARTBEAT.md; null if HEARTBEAT.md is not imported. */
export function formatPlan(
  { used, ignored, skills, isCut }: ImportPlan,
  heartbeat: Awaited<ReturnType<typeof previewTasks>> | null,
): string {
  const fresh = used.filter(({ existing }) => existing === 'nothing');
  const kept = used.filter(({ existing }) => existing !== 'nothing');
  return [
    formatPlanSection('Used', listFileLines(fresh)),
    formatPlanSection(
      'Skills',
      skills.map(({ name, content }) =>
        formatPlanLine(
          name,
          content.kind === 'skill' ? content.description : `not used: ${content.reason}`,
        ),
      ),
    ),
    formatPlanSection(
      'Standing tasks in HEARTBEAT.md',
      heartbeat === null ? [] : listTaskLines(heartbeat),
    ),
    formatPlanSection(
      'Already in the workspace and unchanged',
      kept.map((file) => formatPlanLine(file.name, EXISTING[file.existing])),
    ),
    formatPlanSection(
      'Not used',
      ignored.map(({ name, why }) => formatPlanLine(name, why)),
    ),
    isCut
      ? 'The folder contains more files than an import examines. The remaining files are ignored.\n'
      : '',
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function listTaskLines({
  tasks,
  isWhole,
  context,
  problems,
}: Awaited<ReturnType<typeof previewTasks>>): readonly string[] {
  const lines = tasks.map(({ name, schedule, lastRun }) => {
    const ran = lastRun === null ? '' : `, last run ${new Date(lastRun).toISOString()}`;
    return formatPlanLine(name, `${schedule}${ran}`);
  });
  const whole =
    'the file does not show where one task ends and the next begins, so all of it counts as one task';
  return [
    ...lines,
    ...(isWhole ? [formatPlanLine('', whole)] : []),
    ...(context === undefined ? [] : [formatPlanLine('', formatContextLine(context))]),
    ...problems.map((text) => formatPlanLine('', text)),
  ];
}

const EXISTING: Readonly<Record<ImportedFile['existing'], string>> = {
  nothing: '',
  'the-same': 'the same',
  'a-template':
    'still the file that Parley created: delete it there and import again to use the imported one',
  something: 'one of your own files',
};

function formatPlanSection(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.join('\n')}\n`;
}

function listFileLines(files: readonly ImportedFile[]): readonly string[] {
  const single = files.filter(({ name }) => !SUMMED.includes(getTopFolder(name)));
  const sums = SUMMED.flatMap((folder) => {
    const inside = files.filter(({ name }) => getTopFolder(name) === folder);
    if (inside.length === 0) return [];
    const bytes = inside.reduce((sum, file) => sum + file.bytes, 0);
    const isPrivate = inside.every((file) => file.isPrivate);
    const total = formatPlanLine(
      `${folder}/`,
      `${pluralize(inside.length, 'file')}, ${formatSize(bytes)}${isPrivate ? OWNER_ONLY : ''}`,
    );
    return [total, ...inside.flatMap((file) => listRemarkLines(file))];
  });
  return [...single.map(formatFileLine), ...sums];
}

const MARK = ' (the copy says "audience: owner")';
const OWNER_ONLY = '; shown only in your own chats';

function formatFileLine(file: ImportedFile): string {
  const { name, bytes, use, isPrivate, isMarked, remark } = file;
  const remarks = `${isMarked ? MARK : ''}${remark === null ? '' : `; ${remark}`}`;
  return formatPlanLine(
    name,
    `${use}, ${formatSize(bytes)}${isPrivate ? OWNER_ONLY : ''}${remarks}`,
  );
}

function listRemarkLines({ name, remark }: ImportedFile): readonly string[] {
  return remark === null ? [] : [formatPlanLine(`  ${name}`, remark)];
}

function formatPlanLine(name: string, text: string): string {
  return `  ${toShortPrintableLine(name).padEnd(24)} ${toShortPrintableLine(text)}`;
}

/** Names and descriptions are untrusted, so control characters are removed. */
function toShortPrintableLine(text: string): string {
  return toDisplayLine(text).slice(0, 300);
}

function getTopFolder(name: string): string {
  return name.includes('/') ? (name.split('/')[0] ?? '') : '';
}

function formatSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(1)} kB`;
}
