import { countOf, visibleLine } from '@parley/core';
import type { foreseeTasks } from '@parley/proactive';
import { isMarkdown, isMemory, type Survey, type SurveyedEntry } from '@parley/workspace';
import { contextLine } from '../schedule.ts';

/** What already exists in the workspace under the name of a file to copy. */
export type Existing = 'nothing' | 'the-same' | 'a-template' | 'something';

type UsedFile = ReturnType<typeof asUsed>;
type ImportPlan = ReturnType<typeof planImport>;

const USES: Readonly<Record<string, string>> = {
  'agents.md': 'how the agent works',
  'soul.md': 'its character',
  'user.md': 'the person it works for',
  'identity.md': 'its name, role and emoji',
  'tools.md': 'notes on tools',
  'memory.md': 'what it knows',
  'heartbeat.md': 'standing tasks',
  'boot.md': 'the instructions for each start',
};

/**
 * Markdown that other people's turns use: how the agent works and who it is. Text in it about the
 * owner is removed (W03).
 */
const FOR_EVERYONE: ReadonlySet<string> = new Set(['agents.md', 'soul.md', 'identity.md']);

/**
 * Notes are about the owner, so copies of Markdown are marked as the owner's, independently of
 * later defaults (W03). Memory is always the owner's.
 */
export function isMarkedInCopy(name: string): boolean {
  const isOpen = FOR_EVERYONE.has(name.toLowerCase()) || firstPart(name) === 'skills';
  return isMarkdown(name) && !isOpen && !isMemory(name);
}

/**
 * Whether a file is a USER.md whose copy is reserved for the owner, so that notes about them can be
 * appended.
 */
export function takesNotes({ name, content }: Pick<SurveyedEntry, 'name' | 'content'>): boolean {
  if (name.toLowerCase() !== 'user.md' || content.kind !== 'markdown') return false;
  return content.declared !== 'everyone' && content.problem === null;
}

/** The files that record when tasks last ran; OpenClaw's agents use the second one. */
const STATES: readonly string[] = ['heartbeat-state.json', 'memory/heartbeat-state.json'];

/** Files that only OpenClaw or NeoMAGI uses, by the first component of the path. */
const FOREIGN: Readonly<Record<string, string>> = {
  'bootstrap.md': 'its first conversation is over; only a new Parley workspace has one',
  'openclaw.json': 'settings of OpenClaw, perhaps with secrets; those of Parley are in parley.yaml',
  'clawdbot.json': 'settings of OpenClaw, perhaps with secrets; those of Parley are in parley.yaml',
  credentials: 'secrets; give Parley its own in parley.yaml',
  sessions: 'conversations that Parley cannot continue',
  agents: 'sessions and secrets of OpenClaw',
  '.openclaw': 'the internal state of OpenClaw',
  canvas: 'pages for OpenClaw devices',
  artifacts: "files that NeoMAGI's builder made",
};

/**
 * Decides which files of a folder are used. `beside` is listed, too; `existing` returns what the
 * workspace already contains.
 */
export function planImport(
  survey: Survey,
  beside: readonly string[],
  existing: (name: string) => Existing,
  split: ReadonlySet<string>,
) {
  const used: UsedFile[] = [];
  const ignored = beside.map((name) => ({
    name: `../${name}`,
    why: FOREIGN[name.toLowerCase()] ?? 'not part of the workspace',
  }));
  for (const entry of survey.entries) {
    const why = exclusionReason(entry);
    if (why === null) {
      used.push(asUsed(entry, existing(entry.name), split.has(entry.name)));
    } else ignored.push({ name: entry.name, why });
  }
  return { used, ignored, skills: survey.skills, isCut: survey.isCut };
}

function exclusionReason({ name, content }: SurveyedEntry): string | null {
  const foreign = FOREIGN[firstPart(name)];
  if (foreign !== undefined) return foreign;
  switch (content.kind) {
    case 'hidden':
      return hiddenReason(name);
    case 'refused':
      return content.reason;
    case 'markdown':
      return null;
    case 'other':
      // The scripts and references of a skill belong to it.
      return firstPart(name) === 'skills' || STATES.includes(name)
        ? null
        : 'a workspace contains only Markdown and skills';
  }
}

function hiddenReason(name: string): string {
  const last = name.split('/').at(-1) ?? name;
  if (last === '.git') return 'the Git history stays with the original folder';
  if (last === '.env') return 'secrets; give Parley its own in parley.yaml';
  if (last === 'node_modules') return 'packages are not part of a workspace';
  return 'hidden';
}

/**
 * `use` describes the file's purpose `isPrivate` files are shown only in the owner's direct chats.
 * `isMarked` means that the front matter of the copy says so. `remark` is a note for the owner.
 */
function asUsed({ name, bytes, content }: SurveyedEntry, existing: Existing, isSplit: boolean) {
  const isMarkdown = content.kind === 'markdown';
  const isMarked =
    isMarkdown && isMarkedInCopy(name) && !content.problem && content.declared !== 'everyone';
  const isPrivate =
    isMarked || STATES.includes(name) || (isMarkdown && content.audience === 'owner');
  const use = useOf(name);
  const isOwnersProfile = takesNotes({ name, content });
  const remark = isSplit ? SPLIT_REMARK : remarkOn(content);
  return { name, bytes, use, isPrivate, isMarked, remark, existing, isOwnersProfile };
}

const SPLIT_REMARK = 'its facts about you go into the owner’s notes';

function useOf(name: string): string {
  if (STATES.includes(name)) return 'when its tasks last ran';
  const known = USES[name.toLowerCase()];
  if (known !== undefined) return known;
  switch (firstPart(name)) {
    case 'memory':
      return /^memory\/\d{4}-\d\d-\d\d\.md$/i.test(name) ? 'a daily note' : 'a note';
    case 'skills':
      return 'part of a skill';
    default:
      return 'a note that the agent can look up';
  }
}

function remarkOn(content: SurveyedEntry['content']): string | null {
  if (content.kind !== 'markdown') return null;
  if (content.problem !== null) return `until this is fixed the owner’s alone: ${content.problem}`;
  if (content.isBlank) return 'says nothing yet';
  return content.warning;
}

function firstPart(name: string): string {
  return (name.split('/')[0] ?? '').toLowerCase();
}

/** Folders that are listed with a total instead of file by file. */
const SUMMED = ['memory', 'skills', 'knowledge'];

/** `heartbeat` describes the tasks in HEARTBEAT.md; null if no such file is used. */
export function planText(
  { used, ignored, skills, isCut }: ImportPlan,
  heartbeat: Awaited<ReturnType<typeof foreseeTasks>> | null,
): string {
  const fresh = used.filter(({ existing }) => existing === 'nothing');
  const kept = used.filter(({ existing }) => existing !== 'nothing');
  return [
    planSection('Used', fileLines(fresh)),
    planSection(
      'Skills',
      skills.map(({ name, content }) =>
        planLine(
          name,
          content.kind === 'skill' ? content.description : `not used: ${content.reason}`,
        ),
      ),
    ),
    planSection('Standing tasks of HEARTBEAT.md', heartbeat === null ? [] : taskLines(heartbeat)),
    planSection(
      'Already in the workspace, and not changed',
      kept.map((file) => planLine(file.name, EXISTING[file.existing])),
    ),
    planSection(
      'Not used',
      ignored.map(({ name, why }) => planLine(name, why)),
    ),
    isCut
      ? 'The folder contains more files than an import examines; the remaining files are ignored.\n'
      : '',
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function taskLines({
  tasks,
  isWhole,
  context,
  problems,
}: Awaited<ReturnType<typeof foreseeTasks>>): readonly string[] {
  const lines = tasks.map(({ name, schedule, lastRun }) => {
    const ran = lastRun === null ? '' : `, last run ${new Date(lastRun).toISOString()}`;
    return planLine(name, `${schedule}${ran}`);
  });
  const whole =
    'the file does not show where one task ends and the next begins, so all of it is one task';
  return [
    ...lines,
    ...(isWhole ? [planLine('', whole)] : []),
    ...(context === undefined ? [] : [planLine('', contextLine(context))]),
    ...problems.map((text) => planLine('', text)),
  ];
}

const EXISTING: Readonly<Record<UsedFile['existing'], string>> = {
  nothing: '',
  'the-same': 'the same',
  'a-template':
    'still unchanged since Parley created it: delete it there and import again to use this one',
  something: 'a file of your own',
};

function planSection(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.join('\n')}\n`;
}

function fileLines(files: readonly UsedFile[]): readonly string[] {
  const single = files.filter(({ name }) => !SUMMED.includes(topFolder(name)));
  const sums = SUMMED.flatMap((folder) => {
    const inside = files.filter(({ name }) => topFolder(name) === folder);
    if (inside.length === 0) return [];
    const bytes = inside.reduce((sum, file) => sum + file.bytes, 0);
    const isPrivate = inside.every((file) => file.isPrivate);
    const total = planLine(
      `${folder}/`,
      `${countOf(inside.length, 'file')}, ${sizeText(bytes)}${isPrivate ? OWNER_ONLY : ''}`,
    );
    return [total, ...inside.flatMap((file) => remarkLine(file))];
  });
  return [...single.map(fileLine), ...sums];
}

const MARK = ' (its copy says "audience: owner")';
const OWNER_ONLY = '; shown only in your own chats';

function fileLine(file: UsedFile): string {
  const { name, bytes, use, isPrivate, isMarked, remark } = file;
  const remarks = `${isMarked ? MARK : ''}${remark === null ? '' : `; ${remark}`}`;
  return planLine(name, `${use}, ${sizeText(bytes)}${isPrivate ? OWNER_ONLY : ''}${remarks}`);
}

function remarkLine({ name, remark }: UsedFile): readonly string[] {
  return remark === null ? [] : [planLine(`  ${name}`, remark)];
}

function planLine(name: string, text: string): string {
  return `  ${printable(name).padEnd(24)} ${printable(text)}`;
}

/** Names and descriptions come from strangers, so control characters are removed. */
function printable(text: string): string {
  return visibleLine(text).slice(0, 300);
}

function topFolder(name: string): string {
  return name.includes('/') ? (name.split('/')[0] ?? '') : '';
}

function sizeText(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(1)} kB`;
}
