import { createNotFoundRefusal, Refusal } from './request.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import type { Channel } from './world.ts';

/** The period in which a first answer is accepted. */
const FIRST_ANSWER_MS = 3000;
/** The period in which an interaction token is valid for later answers. */
const TOKEN_MS = 15 * 60_000;

/** An interaction and its answers, if there are any. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly at: number;
  /** 2: slash command, 3: button or select menu, 5: submitted form. */
  readonly type: 2 | 3 | 5;
  readonly name: string;
  readonly user: WireUser;
  readonly channel: Channel;
  /** The message that contains the pressed button. */
  readonly source?: WireMessage | undefined;
  /** Whether the app is used only because the person installed it on their account. */
  readonly byUser: boolean;
  answered: boolean;
  followUps: number;
  /** The form that was opened in response. */
  modal?: Json | undefined;
  /** The id of the message that `@original` refers to, once there is a first answer. */
  originalId?: string | undefined;
  readonly ephemeral: Map<string, WireMessage>;
}

/** The interactions of people, by id and by token. */
export class InteractionStore {
  readonly #clock: () => number;
  readonly #known = new Map<string, Interaction>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  begin(interaction: Interaction): void {
    this.#known.set(interaction.id, interaction);
  }

  get(id: string): Interaction | undefined {
    return this.#known.get(id);
  }

  /** Finds the ephemeral answers that include this message. */
  ephemeralsWith(messageId: string): Map<string, WireMessage> | undefined {
    for (const { ephemeral } of this.#known.values())
      if (ephemeral.has(messageId)) return ephemeral;
    return undefined;
  }

  /**
   * Finds an interaction that still waits for its first answer.
   * @throws Refusal with code 10062 after the deadline, 40060 when the interaction was already
   * answered
   */
  waiting(id: string, token: string): Interaction {
    const interaction = this.#known.get(id);
    if (interaction === undefined || interaction.token !== token)
      throw createNotFoundRefusal('Interaction');
    if (interaction.answered)
      throw new Refusal(400, 40060, 'Interaction has already been acknowledged.');
    if (this.#clock() - interaction.at > FIRST_ANSWER_MS)
      throw createNotFoundRefusal('Interaction');
    return interaction;
  }

  /**
   * Finds the interaction that a later answer belongs to.
   * @throws Refusal with code 50027 when the token is expired or unknown, 10015 before the first
   * answer
   */
  byToken(token: string): Interaction {
    const interaction = [...this.#known.values()].find((known) => known.token === token);
    if (interaction === undefined || this.#clock() - interaction.at > TOKEN_MS)
      throw new Refusal(401, 50027, 'Invalid Webhook Token');
    if (!interaction.answered) throw createNotFoundRefusal('Webhook');
    return interaction;
  }
}
