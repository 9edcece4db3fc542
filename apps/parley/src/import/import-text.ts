import type { ImportPlan, UsedFile } from './plan-import.ts';

/** Folders of which the sum is told, not each file. */
const SUMMED = ['memory', 'skills', 'knowledge'];

/** What an import would use, and what not, as lines for the terminal. */
export function planText({ used, ignored, skills, isCut }: ImportPlan): string {
  const fresh = used.filter(({ standing }) => standing === 'nothing');
  const kept = used.filter(({ standing }) => standing !== 'nothing');
  return [
    section('Used', fileLines(fresh)),
    section(
      'Skills',
      skills.map(({ name, told }) =>
        line(name, told.kind === 'skill' ? told.description : `not used: ${told.reason}`),
      ),
    ),
    section(
      'In the workspace already, and left as it is there',
      kept.map((file) => line(file.name, STANDING[file.standing])),
    ),
    section(
      'Not used',
      ignored.map(({ name, why }) => line(name, why)),
    ),
    isCut ? 'The folder holds more files than are looked at; the rest is not used.\n' : '',
  ]
    .filter((text) => text !== '')
    .join('\n');
}

const STANDING: Readonly<Record<UsedFile['standing'], string>> = {
  nothing: '',
  'the-same': 'the same',
  'a-template': 'still as Parley made it: delete it there and import again to take this one',
  something: 'a file of yours',
};

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.join('\n')}\n`;
}

function fileLines(files: readonly UsedFile[]): readonly string[] {
  const single = files.filter(({ name }) => !SUMMED.includes(folderOf(name)));
  const sums = SUMMED.flatMap((folder) => {
    const inside = files.filter(({ name }) => folderOf(name) === folder);
    if (inside.length === 0) return [];
    const bytes = inside.reduce((sum, file) => sum + file.bytes, 0);
    const count = inside.length === 1 ? '1 file' : `${inside.length} files`;
    const isPrivate = inside.every((file) => file.isPrivate);
    const told = line(`${folder}/`, `${count}, ${size(bytes)}${isPrivate ? OWNER_ONLY : ''}`);
    return [told, ...inside.flatMap((file) => remarkLine(file))];
  });
  return [...single.map(fileLine), ...sums];
}

const MARKED = ' (its copy says "audience: owner")';
const OWNER_ONLY = '; shown in your own chats alone';

function fileLine(file: UsedFile): string {
  const { name, bytes, use, isPrivate, isMarked, remark } = file;
  const remarks = `${isMarked ? MARKED : ''}${remark === null ? '' : `; ${remark}`}`;
  return line(name, `${use}, ${size(bytes)}${isPrivate ? OWNER_ONLY : ''}${remarks}`);
}

function remarkLine({ name, remark }: UsedFile): readonly string[] {
  return remark === null ? [] : [line(`  ${name}`, remark)];
}

function line(name: string, words: string): string {
  return `  ${printable(name).padEnd(24)} ${printable(words)}`;
}

/** Names and descriptions are not ours: no control character of theirs reaches the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, 300);
}

function folderOf(name: string): string {
  return name.includes('/') ? (name.split('/')[0] ?? '') : '';
}

function size(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(1)} kB`;
}
