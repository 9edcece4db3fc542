import { z } from 'zod';

/** YAML reads a bare platform id as a number; it is text to everything else. */
const PlatformId = z.union([z.string().min(1), z.int()]).transform(String);

/** Who may talk to the bot on one account (F05). Closed unless opened: nobody but owners and those they let in. */
export const AccessSettings = z.strictObject({
  direct: z
    .enum(['pairing', 'allowlist', 'open', 'disabled'])
    .default('pairing')
    .describe(
      'Direct chats. pairing: the people in `allow`, and whom an owner lets in with a code. allowlist: only those in `allow`. open: everybody. disabled: owners alone.',
    ),
  groups: z
    .enum(['allowlist', 'open', 'disabled'])
    .default('allowlist')
    .describe('Groups: those in `allowGroups`, all, none.'),
  allow: z.array(PlatformId).default([]).describe('User ids of the platform.'),
  allowGroups: z.array(PlatformId).default([]).describe('Group ids of the platform.'),
  groupCommands: z
    .enum(['owners', 'approvers', 'administrators', 'everyone'])
    .default('administrators')
    .describe(
      'Who may use commands in groups that change the conversation for all of the group: /new, /mode, /run, /compact, and /stop of what others asked. owners; approvers: owners and approvals.approvers; administrators: those and whom the platform calls an administrator of the group; everyone.',
    ),
});
export type AccessSettings = z.infer<typeof AccessSettings>;

/** When the bot answers in a group (F06). */
export const Activation = z.enum(['mention', 'always', 'never']);
export type Activation = z.infer<typeof Activation>;

/** How answers look on one account, as far as an operator has a say. */
export const AnswerSettings = z.strictObject({
  mentions: z
    .enum(['dead', 'live'])
    .default('dead')
    .describe('dead: names in answers are shown but ping nobody. live: they do what they say.'),
  numbered: z.boolean().default(false).describe('Long answers say which part is which: (2/5).'),
});
export type AnswerSettings = z.infer<typeof AnswerSettings>;

/** The keys that every channel account has; all others belong to the channel's own schema. */
export const CommonAccountSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('false: keep the settings, do not connect.'),
  access: AccessSettings.prefault({}).describe('Who may talk to the bot here.'),
  activation: Activation.default('mention').describe('When the bot answers in groups.'),
  answers: AnswerSettings.prefault({}).describe('How answers look here.'),
  whenUncertain: z
    .enum(['tell', 'resend'])
    .default('tell')
    .describe(
      'When nobody knows whether a part of an answer arrived, where the platform does not recognise repetitions. tell: the chat is notified and can have it sent again. resend: it is sent again at once and may appear twice.',
    ),
});

/** An account's name: part of addresses, keys and logs. */
export const ACCOUNT_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
