import { z } from 'zod';

/** `tool`, or `tool:pattern`. */
const AutoRule = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}(:.+)?$/, 'a tool, or tool:pattern, such as exec:git status*');

/** Which calls of tools need a person's yes, and whose (G05). */
export const Approvals = z
  .strictObject({
    ask: z
      .array(z.string().min(1))
      .default([])
      .describe('Tools that need a yes besides those that ask for one themselves.'),
    auto: z
      .array(AutoRule)
      .default([])
      .describe(
        'What needs none: tools, or tool:pattern for the first argument, where * stands for harmless characters.',
      ),
    approvers: z
      .array(
        z
          .string({ error: 'channel:userId without a space, such as telegram:123456789' })
          .regex(/^[a-z][a-z0-9-]*:\S+$/, 'channel:userId, such as telegram:123456789'),
      )
      .default([])
      .describe('Who may decide besides owners.'),
    waitMinutes: z
      .number()
      .positive()
      .max(7 * 24 * 60)
      .default(15)
      .describe('After this a question counts as refused.'),
  })
  .prefault({})
  .describe('Tools that are run only when a person says yes.');
