import { z } from 'zod';
import { ArmedFaults, FAULT_AIM } from '../armed-faults.ts';

const aim = {
  ...FAULT_AIM,
  /** Only in this chat: a person in any form, or a group. */
  chat: z.string().optional(),
};
const lost = z.boolean().optional();
const fault = <K extends string>(name: K) => z.strictObject({ kind: z.literal(name), ...aim });

/** The socket opens and the server says nothing. */
const GreetingFault = fault('no-greeting');

/** A login is refused with a reason: 401 logged out, 403 banned, 405 the version is too old, 503 … */
const LoginFault = fault('failure').extend({ reason: z.number() });

/** A message of the bot goes wrong. */
const SendFault = z.discriminatedUnion('kind', [
  /** The server answers with an error, and nobody gets the message: 463, 479, 429 … */
  fault('refuse').extend({ code: z.number() }),
  /** No answer; people get the message unless `lost`. */
  fault('no-ack').extend({ lost }),
  /** The answer comes `ms` later. */
  fault('late-ack').extend({ ms: z.number() }),
  /** The connection breaks instead of an answer; people get the message unless `lost`. */
  fault('drop').extend({ lost }),
]);
export type SendFault = z.infer<typeof SendFault>;

/** Something for the bot goes wrong. */
const DeliveryFault = z.discriminatedUnion('kind', [
  /** The same stanza twice. */
  fault('twice'),
  /** Half of the stanza, then the connection breaks; it comes again at the next login. */
  fault('cut'),
  /** The connection breaks as soon as the stanza is sent; it comes again at the next login. */
  fault('drop-after'),
]);
export type DeliveryFault = z.infer<typeof DeliveryFault>;

/** A message sealed by a person's phone cannot be opened. */
const SealFault = fault('garble');

/** A query of the bot goes wrong. */
const QueryFault = z.discriminatedUnion('kind', [
  fault('query-error').extend({ xmlns: z.string(), code: z.number() }),
  fault('query-silence').extend({ xmlns: z.string() }),
]);

/** A fault that waits for its moment. */
export const Fault = z.discriminatedUnion('kind', [
  GreetingFault,
  LoginFault,
  SendFault,
  DeliveryFault,
  SealFault,
  QueryFault,
]);
export type Fault = z.infer<typeof Fault>;

/** The faults not yet used up. */
export class Faults extends ArmedFaults<Fault> {
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
