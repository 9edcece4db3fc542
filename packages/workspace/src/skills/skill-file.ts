import { z } from 'zod';
import { fromJson } from '../audience.ts';
import { readFrontMatter } from '../front-matter.ts';

/** A valid skill. */
export interface ParsedSkill extends SkillHeader {
  readonly kind: 'skill';
  readonly name: string;
}

/** A SKILL.md that is no skill, and why; for people. */
export interface RefusedSkill {
  readonly kind: 'refused';
  readonly reason: string;
}

/**
 * Reads a SKILL.md (S01); `folder` names the skill where it does not do so itself. The body is apart from
 * what is cached: it is read again for each use.
 */
export function parseSkill(
  raw: string,
  folder: string,
): { readonly content: ParsedSkill | RefusedSkill; readonly body: string } {
  const front = readFrontMatter(raw, SkillHeader);
  const { body } = front;
  if (front.kind === 'refused') return { content: refused(front.reason), body };
  if (front.kind === 'none') {
    const reason = 'it has no front matter: name and description between two lines of ---';
    return { content: refused(reason), body };
  }
  if (body === '') return { content: refused('it says nothing below its front matter'), body };
  const named = SkillName.safeParse(front.data.name ?? folder);
  if (!named.success) {
    const why = named.error.issues[0]?.message ?? '';
    return { content: refused(`it has no name, and its folder cannot name it: ${why}`), body };
  }
  return { content: { ...front.data, kind: 'skill', name: named.data }, body };
}

function refused(reason: string): RefusedSkill {
  return { kind: 'refused', reason };
}

/** Longest lists and entries of what a skill asks for; real ones have a handful. */
const MOST = 32;
const LONGEST = 128;

const Word = z.string().min(1).max(LONGEST);
/** `bins: curl` and `bins: [curl]` mean the same. */
const Words = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(Word).max(MOST).default([]),
);

const Flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')]);

const Requires = z.preprocess(
  foldKeys,
  z.object({ bins: Words, anybins: Words, env: Words, config: Words, tools: Words }).prefault({}),
);

/** Shown to people; whatever is wrong with it keeps no skill from working. */
const Emoji = z
  .string()
  .transform((emoji) => oneLine(emoji).slice(0, 16) || null)
  .catch(null);

const InstallStep = z.union([
  z.string(),
  z.looseObject({
    label: z.string().optional(),
    id: z.string().optional(),
    kind: z.string().optional(),
  }),
]);
const Install = z
  .array(InstallStep)
  .transform((steps) => steps.slice(0, 8).map(stepLabel))
  .catch([]);

function stepLabel(step: z.infer<typeof InstallStep>): string {
  const label = typeof step === 'string' ? step : (step.label ?? step.id ?? step.kind ?? '');
  return oneLine(label).slice(0, 120) || 'a step without a name';
}

/** Letters and digits of any script, and separators between them; never a path, a tag or a line break. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]{0,62}[\p{L}\p{M}\p{N}])?$/u;

/** What a skill may be called. */
const SkillName = z
  .string({ error: 'must be text' })
  .transform((name) => name.normalize('NFC'))
  .refine(
    (name) => NAME.test(name),
    'letters, digits, spaces, ".", "_" and "-" only, at most 64, a letter or digit at both ends',
  );

/** The header of a skill, in any spelling of its keys. */
export const SkillHeader = z.preprocess(
  flatten,
  z.object({
    /** Absent: the folder's name is meant. */
    name: SkillName.optional(),
    description: z
      .string({ error: 'is missing; it says when to use the skill' })
      .transform(oneLine)
      .refine((text) => text !== '', 'is empty; it says when to use the skill'),
    os: Words,
    requires: Requires,
    always: Flag.default(false),
    emoji: Emoji,
    install: Install,
    userinvocable: Flag.default(true),
    disablemodelinvocation: Flag.default(false),
    show: z.enum(['outline', 'inline']).optional(),
    /** The variable that the settings' `apiKey` of the skill stands for; shown in one piece. */
    primaryenv: Word.optional(),
    /** False as soon as any audience but `everyone` is written anywhere. */
    foreveryone: z.boolean(),
  }),
);
export type SkillHeader = z.infer<typeof SkillHeader>;

/** The blocks inside `metadata` with the keys of known agents. */
const BLOCKS = ['openclaw', 'clawdbot', 'parley'];

/**
 * Brings the keys at the top, in `metadata` and in its blocks on one level; the higher wins, but for
 * the audience, where the strictest does.
 */
function flatten(written: unknown, context: z.core.$RefinementCtx): unknown {
  const top = blockOf(foldKeys(written, context));
  const metadata = blockOf(foldKeys(fromJson(top.metadata), context));
  const blocks = BLOCKS.map((block) => blockOf(foldKeys(fromJson(metadata[block]), context)));
  const levels = [...blocks, metadata, top];
  const audiences = levels.flatMap(({ audience }) => (audience === undefined ? [] : [audience]));
  return {
    ...Object.assign({}, ...levels),
    foreveryone: audiences.every((audience) => audience === 'everyone'),
  };
}

function blockOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/**
 * Makes `userInvocable`, `user-invocable` and `User_Invocable` one key, for a schema of lower-case
 * keys; invisible characters in a key do not count. Two spellings in one block are an issue: the meant one is
 * unknown.
 */
function foldKeys(block: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return block;
  const folded = new Map<string, unknown>();
  for (const [key, value] of Object.entries(block)) {
    const name = key
      .normalize('NFKC')
      .replaceAll(/[\s\p{Cf}_-]/gu, '')
      .toLowerCase();
    if (folded.has(name)) {
      const message = `"${key}" is written twice, in two spellings`;
      context.addIssue({ code: 'custom', message, input: block });
    }
    folded.set(name, value);
  }
  return Object.fromEntries(folded);
}

/** Format characters that no list needs (bidi marks, tag characters); joiners stay, emoji are made of them. */
const INVISIBLE = /(?![\u200c\u200d])\p{Cf}/gu;
const BLANKS = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** What an author wrote, on one line and without invisible characters. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '').replace(BLANKS, ' ').trim();
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text inside an XML element: no author can close it or open another one. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** A path as people and the model see it: the home folder is written `~` (S05). `homes` may be links to one another. */
export function locationOf(path: string, homes: readonly string[]): string {
  const home = homes.find((one) => one !== '/' && path.startsWith(`${one}/`));
  return oneLine(home === undefined ? path : `~${path.slice(home.length)}`);
}
