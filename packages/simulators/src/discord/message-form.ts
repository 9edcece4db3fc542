import { z } from 'zod';
import { COMPONENTS_V2, checkComponents } from './components.ts';
import { createInvalidFormRefusal, Refusal, type RestCall } from './request.ts';

/** The maximum values that Discord's servers accept. */
const LIMIT = {
  content: 2000,
  embeds: 10,
  embedText: 6000,
  nonce: 25,
  files: 10,
} as const;

const Reference = z.looseObject({
  message_id: z.string(),
  channel_id: z.string().optional(),
  fail_if_not_exists: z.boolean().optional(),
});
const Allowed = z.looseObject({
  parse: z.array(z.enum(['everyone', 'users', 'roles'])).optional(),
  users: z.array(z.string()).max(100).optional(),
  roles: z.array(z.string()).max(100).optional(),
  replied_user: z.boolean().optional(),
});
const Objects = z.array(z.record(z.string(), z.unknown()));

const MessageForm = z.looseObject({
  content: z.string().nullish(),
  embeds: Objects.nullish(),
  components: Objects.nullish(),
  nonce: z.union([z.string(), z.number().int()]).nullish(),
  enforce_nonce: z.boolean().optional(),
  allowed_mentions: Allowed.nullish(),
  message_reference: Reference.nullish(),
  flags: z.number().nullish(),
  attachments: z
    .array(
      z.looseObject({
        id: z.union([z.string(), z.number()]).transform(String),
        filename: z.string().optional(),
        description: z.string().optional(),
        duration_secs: z.number().positive().optional(),
        waveform: z.base64().min(1).optional(),
      }),
    )
    .nullish(),
});
/** A valid request body that creates or edits a message. */
export type MessageForm = z.infer<typeof MessageForm>;

/**
 * Parses the body of a call; `before` holds the flags of the edited message.
 * @throws Refusal with code 50035 (invalid form body) naming the field
 */
export function parseMessageForm(call: RestCall, before = 0): MessageForm {
  const form = call.read(MessageForm);
  const isV2 = ((before | (form.flags ?? 0)) & COMPONENTS_V2) !== 0;
  const { content, embeds, nonce, allowed_mentions: allowed } = form;
  if ((content ?? '').length > LIMIT.content) throw createTooLongRefusal('content', LIMIT.content);
  if ((embeds ?? []).length > LIMIT.embeds) throw createTooLongRefusal('embeds', LIMIT.embeds);
  if (countTextLength(embeds) > LIMIT.embedText)
    throw createInvalidFormRefusal(
      'embeds',
      'MAX_EMBED_SIZE_EXCEEDED',
      `Embed size exceeds maximum size of ${LIMIT.embedText}`,
    );
  if (String(nonce ?? '').length > LIMIT.nonce) throw createTooLongRefusal('nonce', LIMIT.nonce);
  if (call.files.size > LIMIT.files)
    throw new Refusal(400, 30015, 'Maximum number of attachments in a message reached (10)');
  if (isV2) checkLegacyFields(form);
  for (const kind of ['users', 'roles'] as const) {
    if (allowed?.parse?.includes(kind) && (allowed[kind] ?? []).length > 0)
      throw createInvalidFormRefusal(
        'allowed_mentions',
        'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
        `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
      );
  }
  checkComponents(form.components ?? [], isV2);
  checkVoice(form, call);
  return form;
}

/**
 * The flag of a voice message, which contains a single recording with its duration and no other
 * content.
 */
const VOICE_MESSAGE = 1 << 13;

/** @throws Refusal with code 50159, 50160 or 50161 (invalid voice message) */
function checkVoice(
  { flags, content, components, attachments }: MessageForm,
  call: RestCall,
): void {
  if (((flags ?? 0) & VOICE_MESSAGE) === 0) return;
  if (content || (components ?? []).length > 0)
    throw new Refusal(400, 50159, 'Voice messages do not support additional content.');
  const files = [...call.files.values()];
  if (files.length !== 1 || files[0]?.type.startsWith('audio/') !== true)
    throw new Refusal(400, 50160, 'Voice messages must have a single audio attachment.');
  const [described] = attachments ?? [];
  if (described?.duration_secs === undefined || described.waveform === undefined)
    throw new Refusal(400, 50161, 'Voice messages must have supporting metadata.');
}

/** @throws Refusal with code 50006 (empty message) */
export function checkNotEmpty(parts: {
  readonly content: string;
  readonly embeds: readonly unknown[];
  readonly components: readonly unknown[];
  readonly attachments: readonly unknown[];
}): void {
  const { content, embeds, components, attachments } = parts;
  const filled = embeds.length + components.length + attachments.length > 0;
  if (content.trim() === '' && !filled)
    throw new Refusal(400, 50006, 'Cannot send an empty message');
}

/** The fields that are not allowed in a components message. */
const LEGACY = ['content', 'embeds', 'poll', 'sticker_ids'] as const;

function checkLegacyFields(form: MessageForm): void {
  for (const field of LEGACY) {
    const value = form[field];
    if (value == null || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    throw createInvalidFormRefusal(
      field,
      'MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2',
      `The '${field}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`,
    );
  }
}

function createTooLongRefusal(path: string, max: number): Refusal {
  return createInvalidFormRefusal(
    path,
    'BASE_TYPE_MAX_LENGTH',
    `Must be ${max} or fewer in length.`,
  );
}

/** The total number of characters of text in the embeds, excluding URLs. */
function countTextLength(value: unknown): number {
  if (Array.isArray(value))
    return value.reduce<number>((sum, item) => sum + countTextLength(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, field]) =>
      sum + (typeof field === 'string' && TEXTS.has(name) ? field.length : countTextLength(field)),
    0,
  );
}

const TEXTS = new Set(['title', 'description', 'name', 'value', 'text']);
