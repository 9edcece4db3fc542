import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { end, listen } from '../loopback.ts';
import { type Account, chatOf } from './account.ts';
import { Acts } from './acts.ts';
import { handleControl } from './control.ts';
import { Faults } from './faults.ts';
import { GroupActs } from './group-acts.ts';
import { Groups } from './groups.ts';
import { Mailbox } from './mailbox.ts';
import { MediaHost, openAttachment } from './media.ts';
import { newServerIdentity } from './noise.ts';
import { linkedCredentials } from './pairing.ts';
import { People, type Person } from './people.ts';
import { Phones } from './phones.ts';
import { Server } from './server.ts';
import { Transcript } from './transcript.ts';
import type {
  PeopleSide,
  Sights,
  Troubles,
  WhatsAppDouble,
  WhatsAppDoubleOptions,
} from './whatsapp-double.ts';
import { ClientLink } from './wire.ts';

/**
 * Starts a local WhatsApp server for one account, with the phones of the account's contacts: the
 * real protocol including Noise and Signal, and injectable faults.
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
      await end(http);
    },
  };
  return double;
}

function newAccount(
  { owner }: WhatsAppDoubleOptions,
  given: Pick<Account, 'clock' | 'transcript' | 'mediaHost'>,
): Account {
  const people = new People();
  const me = people.add({ name: 'Owner', ...owner, hidden: false });
  if (!hasNumber(me)) throw new Error("The account's owner needs a number");
  const faults = new Faults();
  return {
    ...given,
    me,
    people,
    groups: new Groups(),
    mailbox: new Mailbox((chat) => faults.takeDelivery(chat)),
    faults,
    timers: new Map(),
    companion: undefined,
  };
}

function hasNumber(person: Person): person is Person & { readonly pn: string } {
  return person.pn !== undefined;
}

/** The parts of the double that the handle uses. */
interface Parts {
  readonly account: Account;
  readonly phones: Phones;
  readonly server: Server;
  readonly media: MediaHost;
}

/** The methods of the handle that act as people. */
function peopleOf({ account, phones, server, media }: Parts): PeopleSide {
  const acts = new Acts(account, phones, media);
  const groupActs = new GroupActs(account);
  return {
    me: account.me,
    addPerson: (options) => account.people.add(options),
    showNumber: (jid, number) => account.people.showNumber(jid, number),
    addGroup: (options) => groupActs.add(options),
    changeGroup: (jid, change) => groupActs.change(jid, change),
    scan: (qr) => {
      if (server.pairing === undefined) throw new Error('No client is waiting to be linked');
      server.pairing.scan(qr, server.nextDevice());
    },
    typeCode: async (code) => {
      if (server.pairing === undefined) throw new Error('No client is waiting to be linked');
      await server.pairing.type(code);
    },
    linkWithoutCode: () => {
      const { companion, credentials } = linkedCredentials(account, server.nextDevice());
      server.link(companion);
      return credentials;
    },
    acts,
    say: (saying) => acts.say(saying),
  };
}

/** The methods of the handle that observe the double. */
function sightsOf({ account, server, media }: Parts): Sights {
  const { transcript, mailbox } = account;
  return {
    transcript,
    state: () => {
      if (server.active !== undefined) return 'open';
      return server.pairing === undefined ? 'away' : 'pairing';
    },
    pairingRefs: () => server.pairing?.refs,
    conversation: (chat) => transcript.messages(chatOf(account, chat).id),
    open: (attachment) => openAttachment(media, attachment),
    sends: () => transcript.sends,
    stanzas: (tag) =>
      transcript.stanzas.filter((stanza) => tag === undefined || stanza.tag === tag),
    waiting: () => mailbox.waiting,
    waitFor: (look, timeoutMs = 30_000) => transcript.changes.waitFor(look, timeoutMs),
  };
}

/** The methods of the handle that inject faults. */
function troublesOf({ account, phones, server }: Parts): Troubles {
  const { faults, people } = account;
  return {
    fault: (fault) =>
      faults.arm(
        fault.chat === undefined ? fault : { ...fault, chat: chatOf(account, fault.chat).id },
      ),
    clearFaults: () => faults.clear(),
    loseSessions: (person) => phones.forgetSessions(people.get(person)),
    kick: (code) => server.kick(code),
    drop: () => server.active?.drop(),
    silence: (isSilent) => server.silence(isSilent),
  };
}
