import { Audience, InboundMessage, ReplyRoute } from '@parley/core';
import { Document, isMap, isSeq, parse } from 'yaml';
import { z } from 'zod';

/** The longest case file, in characters; a longer one is refused, because a person cannot review it. */
export const MAX_CASE_CHARACTERS = 400_000;

const Name = z.string().min(1).max(120);
const Words = z.string().min(1).max(10_000);

/** What an answer must be like. Each check is one key with its value, as written in the file. */
export const AnswerCheck = z.union([
  z.strictObject({ contains: Words }),
  z.strictObject({ lacks: Words }),
  /** A JSON Schema that the whole answer must match. */
  z.strictObject({ schema: z.record(z.string(), z.unknown()) }),
  /** A tool that must be called, with these arguments among others. */
  z.strictObject({ calls: Name, with: z.record(z.string(), z.unknown()).optional() }),
  z.strictObject({ neverCalls: Name }),
  /** Tools that must be called in this order; other calls may come between them. */
  z.strictObject({ order: z.array(Name).min(1).max(100) }),
  z.strictObject({ silent: z.boolean() }),
  /** The English name of the language, such as German. */
  z.strictObject({ language: Name }),
  /** The length of the visible answer, in characters. */
  z.strictObject({
    length: z.strictObject({ min: z.int().min(0), max: z.int().min(1) }).partial(),
  }),
  /** A question about the answer that a judge model must answer with yes. */
  z.strictObject({ judge: Words }),
]);
export type AnswerCheck = z.infer<typeof AnswerCheck>;

const CHECK_NAMES = AnswerCheck.options.map(({ shape }) => Object.keys(shape)[0] ?? '');

const CaseCall = z.strictObject({
  name: Name,
  /** The arguments as JSON, as the model wrote them. */
  arguments: z.string(),
});

/** One answer of the model: the text, and the calls that it made before the next answer. */
const RecordedAnswer = z.strictObject({ text: z.string(), calls: z.array(CaseCall).default([]) });
export type RecordedAnswer = z.infer<typeof RecordedAnswer>;

const CaseResult = CaseCall.extend({ result: z.string(), failed: z.boolean().default(false) });
export type CaseResult = z.infer<typeof CaseResult>;

/** The parts of a request in a form in which two versions can be compared. */
export const PromptOutline = z.strictObject({
  layout: z.string(),
  /** The layers in order. The text is a hash; null for a layer whose text changes by itself. */
  layers: z.array(
    z.strictObject({
      layer: z.string(),
      placement: z.enum(['system', 'user']),
      audience: z.enum(['owner', 'conversation', 'everyone']),
      stable: z.boolean(),
      text: z.string().nullable(),
    }),
  ),
  /** The tools in order, each with a hash of its definition. */
  tools: z.array(z.strictObject({ name: z.string(), definition: z.string() })),
  limits: z.record(z.string(), z.number()),
});
export type PromptOutline = z.infer<typeof PromptOutline>;

/** A message as the prompt preview describes it; what is left out has the defaults of a preview. */
const WrittenMessage = z.strictObject({
  channel: Name,
  account: Name.optional(),
  chat: z.enum(['direct', 'group', 'channel', 'thread']).optional(),
  chatId: Name.optional(),
  title: Name.optional(),
  /** The platform's id of the sender. */
  user: Name.optional(),
  name: Name.optional(),
  text: z.string().max(100_000),
});
export type WrittenMessage = z.infer<typeof WrittenMessage>;

const StoredMessage = z.strictObject({
  conversationId: z.string(),
  message: InboundMessage,
  route: ReplyRoute,
  receivedAt: z.number(),
  fromOwner: z.boolean().optional(),
});

const HistoryEntry = z.strictObject({
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.unknown(),
});

/**
 * A turn that is checked again and again: `evals/NAME.yaml` in the workspace. A person writes
 * `message`; a case that was kept from a turn has `messages` instead.
 */
export const EvalCase = z
  .strictObject({
    title: z.string().max(400).default(''),
    /** The time at which the turn takes place, in ISO 8601; the time of the run when absent. */
    at: z.iso.datetime({ offset: true }).optional(),
    /** Whether an owner writes; the settings decide when absent. */
    owner: z.boolean().optional(),
    message: WrittenMessage.optional(),
    messages: z.array(StoredMessage).min(1).max(100).optional(),
    history: z.array(HistoryEntry).max(2_000).default([]),
    summary: z.string().nullable().default(null),
    /** The texts of layers whose content changes by itself, by layer. */
    context: z
      .array(z.strictObject({ layer: z.string(), audience: Audience, text: z.string() }))
      .default([]),
    /** The results with which tool calls are answered. */
    results: z.array(CaseResult).max(1_000).default([]),
    /** What the model answered when the case was recorded; a run without `--live` uses it. */
    answers: z.array(RecordedAnswer).max(200).default([]),
    prompt: PromptOutline.optional(),
    checks: z.array(AnswerCheck).max(100).default([]),
  })
  .refine(({ message, messages }) => (message === undefined) !== (messages === undefined), {
    error: 'must have `message`, or `messages` if it was kept from a turn',
  });
export type EvalCase = z.infer<typeof EvalCase>;

export type ParsedCase =
  | { readonly kind: 'case'; readonly value: EvalCase }
  | { readonly kind: 'broken'; readonly problems: readonly string[] };

/** Parses a case file. A broken one is reported with the place of each problem, never skipped. */
export function parseCase(text: string): ParsedCase {
  if (text.length > MAX_CASE_CHARACTERS)
    return { kind: 'broken', problems: [`It is longer than ${MAX_CASE_CHARACTERS} characters.`] };
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    return { kind: 'broken', problems: [`It is not valid YAML: ${firstLine(error)}`] };
  }
  const { data, error } = EvalCase.safeParse(document);
  if (data !== undefined) return { kind: 'case', value: data };
  return { kind: 'broken', problems: error.issues.map(describeIssue) };
}

function describeIssue({ path, message, code }: z.core.$ZodIssue): string {
  if (path.length === 0) return `The case ${message}.`;
  const at = path.join('.');
  if (path[0] === 'checks' && code === 'invalid_union')
    return `${at}: it is none of the known checks, which are ${CHECK_NAMES.join(', ')}`;
  return `${at}: ${message}`;
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

/** Formats a case for people: empty fields are left out, and each layer and tool takes one line. */
export function formatCase(value: EvalCase): string {
  const isEmpty = (field: unknown) =>
    field === null || field === '' || (Array.isArray(field) && field.length === 0);
  const fields = Object.entries(value).filter(([, field]) => !isEmpty(field));
  const document = new Document(Object.fromEntries(fields), { aliasDuplicateObjects: false });
  for (const list of ['layers', 'tools']) {
    const items = document.getIn(['prompt', list]);
    if (!isSeq(items)) continue;
    for (const item of items.items) if (isMap(item)) item.flow = true;
  }
  return document.toString({ lineWidth: 120 });
}
