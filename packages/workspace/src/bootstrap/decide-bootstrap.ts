import { z } from 'zod';

/**
 * How far BOOTSTRAP.md of a workspace has come (W08), as it is kept between starts. `new`: Parley made
 * the workspace and no owner has talked yet. `begun`: it leads this session of this conversation, has
 * led `turns` of it, and `messageId` leads the last of them.
 */
export const BootstrapMark = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('new') }),
  z.strictObject({
    state: z.literal('begun'),
    conversationId: z.string(),
    session: z.int().nonnegative(),
    messageId: z.string(),
    turns: z.int().positive(),
  }),
]);
export type BootstrapMark = z.infer<typeof BootstrapMark>;

/** After this many turns the first conversation is over, whatever was said. */
export const BOOTSTRAP_TURNS = 20;

/** A turn in which an owner talks in a direct chat. */
export interface OwnersTurn {
  readonly conversationId: string;
  readonly session: number;
  /** Of the message that leads the turn: a turn that is run again counts once. */
  readonly messageId: string;
}

/** What to do with BOOTSTRAP.md in this turn; `mark` is what to keep when it leads. */
export type BootstrapStep =
  | { readonly kind: 'leave-out' }
  | { readonly kind: 'lead'; readonly mark: BootstrapMark }
  | { readonly kind: 'retire' };

/**
 * BOOTSTRAP.md leads the first session in which an owner talks with a new workspace, and no other. It
 * is retired with that session (`/new`), after `BOOTSTRAP_TURNS`, or when somebody took it away.
 * `mark` is null where Parley did not make the workspace, or BOOTSTRAP.md is retired.
 */
export function decideBootstrap(
  mark: BootstrapMark | null,
  saysSomething: boolean,
  { conversationId, session, messageId }: OwnersTurn,
): BootstrapStep {
  if (mark === null) return { kind: 'leave-out' };
  if (!saysSomething) return { kind: 'retire' };
  if (mark.state === 'new') {
    const begun = { state: 'begun', conversationId, session, messageId, turns: 1 } as const;
    return { kind: 'lead', mark: begun };
  }
  if (mark.conversationId !== conversationId) return { kind: 'leave-out' };
  if (mark.session !== session) return { kind: 'retire' };
  if (mark.messageId === messageId) return { kind: 'lead', mark };
  if (mark.turns >= BOOTSTRAP_TURNS) return { kind: 'retire' };
  return { kind: 'lead', mark: { ...mark, messageId, turns: mark.turns + 1 } };
}
