import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Account } from './account.ts';
import { handleControl } from './control-server.ts';
import { Faults } from './faults.ts';
import { Groups } from './groups.ts';
import {
  type PeopleSide,
  peopleOf,
  type Sights,
  sightsOf,
  type Troubles,
  troublesOf,
} from './handle.ts';
import { Mailbox } from './mailbox.ts';
import { MediaHost } from './media/media-host.ts';
import { People, type Person, type PersonOptions } from './people.ts';
import { Phones } from './phones.ts';
import { Server } from './server.ts';
import { Transcript } from './transcript.ts';
import { ClientLink } from './wire/client-link.ts';
import { newServerIdentity } from './wire/server-identity.ts';

/** How to start a double; everything has a default. */
export interface WhatsAppDoubleOptions {
  /** Loopback port; a free one when absent. */
  readonly port?: number;
  /** The person whose account the bot is linked to. */
  readonly owner?: PersonOptions;
  /** Milliseconds since 1970, for what stands on stanzas. */
  readonly clock?: () => number;
}

/** A running double: the wire on `url`, and what tests do to it and see of it. */
export interface WhatsAppDouble extends PeopleSide, Sights, Troubles {
  /** For `waWebSocketUrl`. */
  readonly url: string;
  /** Does over http what this handle does. */
  readonly controlUrl: string;
  /** For `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly rootKey: Buffer<ArrayBuffer>;
  /** Where files lie; its certificate has to be trusted by the client. */
  readonly media: MediaHost;
  close(): Promise<void>;
}

/**
 * Starts WhatsApp's servers for one account on loopback, with the phones of the people it talks to:
 * the real wire up to Noise and Signal, and faults on request.
 */
export async function startWhatsAppDouble(
  options: WhatsAppDoubleOptions = {},
): Promise<WhatsAppDouble> {
  const identity = newServerIdentity();
  const clock = options.clock ?? Date.now;
  const transcript = new Transcript(clock);
  const media = new MediaHost(clock, () => transcript.changes.changed());
  await media.listen();
  const account = newAccount(options, { clock, transcript, mediaHost: media.address });
  const phones = new Phones(account);
  const server = new Server(account, phones, media);
  const parts = { account, phones, server, media };

  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://double');
    if (!url.pathname.startsWith('/control/')) response.writeHead(404).end();
    else void handleControl(double, request, response, url);
  });
  const sockets = new WebSocketServer({ server: http, path: '/ws/chat' });
  sockets.on('connection', (socket) => new ClientLink(socket, identity, server));
  const port = await listen(http, options.port ?? 0);

  const double: WhatsAppDouble = {
    ...peopleOf(parts),
    ...sightsOf(parts),
    ...troublesOf(parts),
    url: `ws://127.0.0.1:${port}/ws/chat`,
    controlUrl: `http://127.0.0.1:${port}/control`,
    rootKey: identity.rootKey,
    media,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await media.close();
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    },
  };
  return double;
}

function listen(http: HttpServer, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, '127.0.0.1', () => resolve((http.address() as AddressInfo).port));
  });
}

function newAccount(
  { owner }: WhatsAppDoubleOptions,
  given: Pick<Account, 'clock' | 'transcript' | 'mediaHost'>,
): Account {
  const people = new People();
  const me = people.add({ name: 'Owner', ...owner, hidden: false });
  if (!hasNumber(me)) throw new Error("The account's owner has no number");
  const faults = new Faults();
  return {
    ...given,
    me,
    people,
    groups: new Groups(),
    mailbox: new Mailbox((chat) => faults.takeDelivery(chat)),
    faults,
    companion: undefined,
  };
}

function hasNumber(person: Person): person is Person & { readonly pn: string } {
  return person.pn !== undefined;
}
