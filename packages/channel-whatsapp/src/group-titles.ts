import type { Logger } from '@parley/contracts';
import type { WASocket } from '@whiskeysockets/baileys';

/** Titles of groups by JID, as far as WhatsApp has told them; for facts, never for routing. */
export class GroupTitles {
  readonly #titles = new Map<string, string>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  get(jid: string): string | undefined {
    return this.#titles.get(jid);
  }

  /** Hears of titles that are new or change. */
  listen({ ev }: Pick<WASocket, 'ev'>): void {
    ev.on('groups.upsert', (groups) => this.#note(groups));
    ev.on('groups.update', (groups) => this.#note(groups));
  }

  /** Asks for all titles; no message waits for the answer. */
  async ask(socket: Pick<WASocket, 'groupFetchAllParticipating'>): Promise<void> {
    try {
      this.#note(Object.values(await socket.groupFetchAllParticipating()));
    } catch {
      this.#log.debug({}, 'WhatsApp does not tell the titles of groups');
    }
  }

  #note(groups: readonly { readonly id?: string; readonly subject?: string }[]): void {
    for (const { id, subject } of groups) if (id && subject) this.#titles.set(id, subject);
  }
}
