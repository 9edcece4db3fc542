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
