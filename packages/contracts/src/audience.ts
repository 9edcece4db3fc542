import { z } from 'zod';

/** Who may see a piece of text. `conversation` is one chat and nobody else. */
export const Audience = z.readonly(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('owner') }),
    z.strictObject({ kind: z.literal('conversation'), conversationId: z.string() }),
    z.strictObject({ kind: z.literal('everyone') }),
  ]),
);
export type Audience = z.infer<typeof Audience>;

/** For whom a turn runs, computed once from its facts. Only an owner in a direct chat is `owner`. */
export type Reader =
  | { readonly kind: 'owner'; readonly conversationId: string }
  | { readonly kind: 'guest'; readonly conversationId: string };

/** A piece of text on its way into a prompt: where it came from and who may see it. */
export const PromptPart = z.readonly(
  z.object({
    text: z.string(),
    /** For people: a file name, a layer id. */
    source: z.string(),
    audience: Audience,
  }),
);
export type PromptPart = z.infer<typeof PromptPart>;

/** The one rule of privacy (W02): used by the workspace view, the tools and the last check before the model. */
export function mayRead(reader: Reader, audience: Audience): boolean {
  switch (audience.kind) {
    case 'everyone':
      return true;
    case 'owner':
      return reader.kind === 'owner';
    case 'conversation':
      return reader.conversationId === audience.conversationId;
  }
}
