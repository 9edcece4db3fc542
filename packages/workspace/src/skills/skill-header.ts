import { z } from 'zod';
import { fromJson } from '../file-audience.ts';
import { foldKeys } from './fold-keys.ts';
import { oneLine } from './skill-text.ts';

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
  .transform((steps) => steps.slice(0, 8).map(wordsFor))
  .catch([]);

function wordsFor(step: z.infer<typeof InstallStep>): string {
  const words = typeof step === 'string' ? step : (step.label ?? step.id ?? step.kind ?? '');
  return oneLine(words).slice(0, 120) || 'a step without a name';
}

/** Letters and digits of any script, and what stands between them; never a path, a tag or a line break. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]{0,62}[\p{L}\p{M}\p{N}])?$/u;

/** What a skill may be called. */
export const SkillName = z
  .string({ error: 'must be text' })
  .transform((name) => name.normalize('NFC'))
  .refine(
    (name) => NAME.test(name),
    'letters, digits, spaces, ".", "_" and "-" only, at most 64, a letter or digit at both ends',
  );

/** What a skill says about itself, whatever spelling its author used. */
export const SkillHeader = z.preprocess(
  flatten,
  z.object({
    /** Absent: the folder's name is meant. */
    name: SkillName.optional(),
    description: z
      .string({ error: 'is missing; it tells when the skill is for' })
      .transform(oneLine)
      .refine((text) => text !== '', 'is empty; it tells when the skill is for'),
    os: Words,
    requires: Requires,
    always: Flag.default(false),
    emoji: Emoji,
    install: Install,
    userinvocable: Flag.default(true),
    disablemodelinvocation: Flag.default(false),
    /** False as soon as anything but `everyone` is written anywhere: it was meant for somebody. */
    foreveryone: z.boolean(),
  }),
);
export type SkillHeader = z.infer<typeof SkillHeader>;

/** The blocks inside `metadata` in which the keys of known agents stand. */
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
