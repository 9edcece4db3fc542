import type { Json } from './wire.ts';
import type { Channel, StoredMessage, Workspace } from './workspace.ts';

/** A button press, a command or a submitted form. */
export interface Interaction {
  readonly id: string;
  readonly user: string;
  readonly channel: Channel | undefined;
  /** The message that contains the pressed button or the menu. */
  readonly message: StoredMessage | undefined;
  /** The path of the `response_url`, and the number of times the bot has used it. */
  readonly path: string;
  readonly startedAt: number;
  uses: number;
  triggerUses: number;
  /** Whether the bot acknowledged the interaction in time; otherwise people see a warning. */
  state: 'pending' | 'acknowledged' | 'failed';
}

const MAX_USES = 5;
const URL_LASTS_MS = 30 * 60_000;
const TRIGGER_LASTS_MS = 3_000;

/** All interactions, with the expiry of their response URLs and triggers. */
export class InteractionStore {
  readonly #all = new Map<string, Interaction>();
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  start(
    user: string,
    channel: Channel | undefined,
    message: StoredMessage | undefined,
  ): Interaction {
    const { ids, team, clock } = this.#workspace;
    const id = ids.next('I');
    const interaction: Interaction = {
      ...{ id, user, channel, message, path: `/actions/${team.id}/${id}/double` },
      ...{ startedAt: clock(), uses: 0, triggerUses: 0, state: 'pending' },
    };
    this.#all.set(id, interaction);
    return interaction;
  }

  get(id: string): Interaction | undefined {
    return this.#all.get(id);
  }

  /** The fields common to the payloads of all interactions. */
  payloadFields({ id, path }: Interaction): Json {
    const { app, origin } = this.#workspace;
    return {
      token: app.verificationToken,
      api_app_id: app.id,
      trigger_id: `${id}.double.trigger`,
      response_url: `${origin}${path}`,
    };
  }

  /**
   * Uses a trigger, which is valid once; returns an error code when it is invalid, expired or used.
   */
  useTrigger(trigger: string): string | undefined {
    const interaction = this.#all.get(trigger.split('.')[0] ?? '');
    if (interaction === undefined) return 'invalid_trigger_id';
    if (this.#workspace.clock() - interaction.startedAt > TRIGGER_LASTS_MS)
      return 'expired_trigger_id';
    interaction.triggerUses += 1;
    return interaction.triggerUses > 1 ? 'exchanged_trigger_id' : undefined;
  }

  /**
   * Finds the interaction of a response URL, which is valid for 30 minutes and for five responses.
   */
  useAddress(path: string): Interaction | 'expired_url' | 'used_url' | undefined {
    const interaction = this.#all.get(path.split('/')[3] ?? '');
    if (interaction?.path !== path) return undefined;
    if (this.#workspace.clock() - interaction.startedAt > URL_LASTS_MS) return 'expired_url';
    interaction.uses += 1;
    return interaction.uses > MAX_USES ? 'used_url' : interaction;
  }
}
