import { z } from 'zod';
import { ArmedFaults, FAULT_AIM } from '../armed-faults.ts';

const aim = {
  ...FAULT_AIM,
  /** Limits the fault to one chat: a person in any form, or a group. */
  chat: z.string().optional(),
};
const lost = z.boolean().optional();
const fault = <K extends string>(name: K) => z.strictObject({ kind: z.literal(name), ...aim });

/** The WebSocket opens, but the server does not send data. */
const GreetingFault = fault('no-greeting');

/**
 * The server rejects a login with a reason: 401 logged out, 403 banned, 405 outdated version, 503 …
 */
const LoginFault = fault('failure').extend({ reason: z.number() });

/** A fault that affects a message from the bot. */
const SendFault = z.discriminatedUnion('kind', [
  /** The server responds with an error and does not deliver the message: 463, 479, 429 … */
  fault('refuse').extend({ code: z.number() }),
  /** The server does not send an acknowledgement; the message is delivered unless `lost`. */
  fault('no-ack').extend({ lost }),
  /** The acknowledgement is delayed by `ms`. */
  fault('late-ack').extend({ ms: z.number() }),
  /**
   * The connection is dropped instead of an acknowledgement; the message is delivered unless
   * `lost`.
   */
  fault('drop').extend({ lost }),
]);
export type SendFault = z.infer<typeof SendFault>;

/** A fault that affects a stanza sent to the bot. */
const DeliveryFault = z.discriminatedUnion('kind', [
  fault('twice'),
  /**
   * The connection is dropped in the middle of the stanza, which is sent again at the next login.
   */
  fault('cut'),
  /** The connection is dropped right after the stanza, which is sent again at the next login. */
  fault('drop-after'),
]);
export type DeliveryFault = z.infer<typeof DeliveryFault>;

/** A message encrypted by a person's phone cannot be decrypted. */
const SealFault = fault('garble');

/** A fault that affects a query from the bot. */
const QueryFault = z.discriminatedUnion('kind', [
  fault('query-error').extend({ xmlns: z.string(), code: z.number() }),
  fault('query-silence').extend({ xmlns: z.string() }),
]);

export const Fault = z.discriminatedUnion('kind', [
  GreetingFault,
  LoginFault,
  SendFault,
  DeliveryFault,
  SealFault,
  QueryFault,
]);
export type Fault = z.infer<typeof Fault>;

export class FaultInjector extends ArmedFaults<Fault> {
  takeGreeting() {
    return this.#takeOf(GreetingFault);
  }

  takeLogin() {
    return this.#takeOf(LoginFault);
  }

  takeSend(chat: string) {
    return this.#takeOf(SendFault, chat);
  }

  takeDelivery(chat: string) {
    return this.#takeOf(DeliveryFault, chat);
  }

  takeSeal(chat: string) {
    return this.#takeOf(SealFault, chat);
  }

  takeQuery(xmlns: string) {
    return this.take((armed) => {
      const found = QueryFault.safeParse(armed).data;
      return found?.xmlns === xmlns ? found : undefined;
    });
  }

  #takeOf<T extends Fault>(kind: z.ZodType<T>, chat?: string): T | undefined {
    return this.take((armed) => {
      const isHere = chat === undefined || armed.chat === undefined || armed.chat === chat;
      return isHere ? kind.safeParse(armed).data : undefined;
    });
  }
}
