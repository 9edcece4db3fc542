import type { ReplyRoute } from '@parley/contracts';
import type { NewPart } from './rows.ts';

/** A stranger in a direct chat, and how to answer there. The name is untrusted. */
export interface PairingApplicant {
  readonly channel: string;
  readonly account: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly route: ReplyRoute;
}

/** A stranger who waits to be let in. */
export interface PairingRequest extends PairingApplicant {
  readonly code: string;
  readonly expiresAt: number;
}

/** Strangers who ask to be let in, and those who were (F05). All gateways see the same. */
export interface PairingRepository {
  /**
   * Notes that a stranger wants in: one code per sender, the same while it is valid (1 h), at most 3
   * per account. `tell` is put into the outbox in the same transaction if `code` is taken, that is
   * at most once an hour per sender.
   */
  request(
    applicant: PairingApplicant,
    code: string,
    tell: readonly NewPart[],
    now: number,
  ): Promise<'new' | 'known' | 'full'>;
  /** Requests that are still valid, oldest first. */
  pending(now: number): Promise<readonly PairingRequest[]>;
  /**
   * Lets the sender of a valid code in for good and puts `welcome` into the outbox, in one
   * transaction; null when no request has that code.
   */
  approve(
    code: string,
    welcome: (request: PairingRequest) => readonly NewPart[],
    now: number,
  ): Promise<PairingRequest | null>;
  isLetIn(channel: string, account: string, senderId: string): Promise<boolean>;
}
