import { z } from 'zod';

const Id = z.string();

/** A saying over http: files in base64. */
export const SayingBody = z.strictObject({
  channel: Id,
  from: Id.optional(),
  text: z.string().optional(),
  replyTo: Id.optional(),
  bot: z.boolean().optional(),
  webhook: z.string().optional(),
  embeds: z.array(z.record(z.string(), z.unknown())).optional(),
  files: z
    .array(z.strictObject({ name: z.string(), base64: z.string(), type: z.string().optional() }))
    .optional(),
});

/** A permission of the bot that is taken away or given back in a channel. */
export const PermissionBody = z.strictObject({
  channel: Id,
  permission: z.enum([
    'react',
    'view',
    'send',
    'manageMessages',
    'attach',
    'history',
    'pingEveryone',
    'manageThreads',
    'openThread',
    'sendInThread',
  ]),
  denied: z.boolean().optional(),
});

const aim = {
  call: z.string().optional(),
  channel: Id.optional(),
  times: z.number().optional(),
  skip: z.number().optional(),
  after: z.boolean().optional(),
};
const plain = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind) });
const aimed = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), ...aim });
const aboutGuild = <K extends string>(kind: K) =>
  z.strictObject({ kind: z.literal(kind), guild: Id });

/** Any fault over http. */
export const FaultBody = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status: z.number(),
    body: z.string().optional(),
    ...aim,
  }),
  z.strictObject({
    kind: z.literal('refuse'),
    status: z.number(),
    code: z.number(),
    message: z.string(),
    ...aim,
  }),
  z.strictObject({
    kind: z.literal('rate-limit'),
    retryAfterMs: z.number(),
    global: z.boolean().optional(),
    ...aim,
  }),
  z.strictObject({ kind: z.literal('delay'), ms: z.number(), ...aim }),
  aimed('reset'),
  aimed('hang-up'),
  aimed('hang'),
  aimed('garbage'),
  plain('drop'),
  plain('silence'),
  plain('freeze'),
  z.strictObject({ kind: z.literal('lag'), ms: z.number() }),
  plain('reconnect'),
  plain('forget-sessions'),
  z.strictObject({ kind: z.literal('invalid-session'), resumable: z.boolean() }),
  z.strictObject({ kind: z.literal('close'), code: z.number() }),
  aboutGuild('guild-unavailable'),
  aboutGuild('guild-back'),
  aboutGuild('kicked'),
  z.strictObject({ kind: z.literal('duplicate'), events: z.number() }),
  z.strictObject({ kind: z.literal('swap'), pairs: z.number() }),
]);
