import { z } from 'zod';

/**
 * What must follow from an event. `reads` and `never`: words of the user message that the model reads, or does not.
 * `text` is all that its sender wrote, as the adapter hands it over, and `typed` what of it counts as theirs (without it,
 * nothing does). `ignored`: nothing follows, and this is what `why` says; `nothing`: not even that.
 */
export const Expected = z.union([
  z.strictObject({
    about: z.string(),
    reads: z.array(z.string()).default([]),
    never: z.array(z.string()).default([]),
    text: z.string().optional(),
    typed: z.string().default(''),
    /** Whether anything in it was neither typed nor spoken by its sender. */
    outside: z.boolean().optional(),
    /** Kind and name of each file that comes along, and whether it may be seen once. */
    files: z.array(z.string()).default([]),
    addressed: z.boolean(),
    chat: z.enum(['direct', 'group', 'thread']),
    /** Id of the answered message. */
    replyTo: z.string().optional(),
    /** Edits are changes of what was said. */
    edits: z.literal(true).optional(),
  }),
  z.strictObject({ about: z.string(), ignored: z.string() }),
  z.strictObject({ about: z.string(), nothing: z.literal(true) }),
]);
export type Follows = Extract<z.infer<typeof Expected>, { addressed: boolean }>;
