import type { Json } from './wire.ts';
import type { Channel, StoredMessage, Workspace } from './workspace.ts';

/** What a person did with a part of a message, a command or a form. */
export interface Interaction {
  readonly id: string;
  readonly user: string;
  readonly channel: Channel | undefined;
  /** The message whose part was used. */
  readonly message: StoredMessage | undefined;
  /** The address of the `response_url`, and how often it was used. */
  readonly path: string;
  readonly startedAt: number;
  uses: number;
  triggerUses: number;
  /** Whether the bot has acknowledged it in time; people see a warning otherwise. */
  state: 'pending' | 'acknowledged' | 'failed';
}

const MAX_USES = 5;
const URL_LASTS_MS = 30 * 60_000;
const TRIGGER_LASTS_MS = 3_000;

/** The interactions so far, whose addresses and triggers are valid for a while. */
export class Interactions {
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

  /** The fields that every payload of an interaction has. */
  payloadFields({ id, path }: Interaction): Json {
    const { app, origin } = this.#workspace;
    return {
      token: app.verificationToken,
      api_app_id: app.id,
      trigger_id: `${id}.double.trigger`,
      response_url: `${origin}${path}`,
    };
  }

  /** Why a trigger cannot open a form; undefined when it can, once. */
  useTrigger(trigger: string): string | undefined {
    const interaction = this.#all.get(trigger.split('.')[0] ?? '');
    if (interaction === undefined) return 'invalid_trigger_id';
    if (this.#workspace.clock() - interaction.startedAt > TRIGGER_LASTS_MS)
      return 'expired_trigger_id';
    interaction.triggerUses += 1;
    return interaction.triggerUses > 1 ? 'exchanged_trigger_id' : undefined;
  }

  /** Who may use an address, five times within half an hour. */
  useAddress(path: string): Interaction | 'expired_url' | 'used_url' | undefined {
    const interaction = this.#all.get(path.split('/')[3] ?? '');
    if (interaction?.path !== path) return undefined;
    if (this.#workspace.clock() - interaction.startedAt > URL_LASTS_MS) return 'expired_url';
    interaction.uses += 1;
    return interaction.uses > MAX_USES ? 'used_url' : interaction;
  }
}
