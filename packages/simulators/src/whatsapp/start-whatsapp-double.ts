import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { listenOnLoopback, stopServer } from '../loopback.ts';
import { getChat, type SimulatedAccount } from './account.ts';
import { PersonActions } from './acts.ts';
import { handleControl } from './control.ts';
import { FaultInjector } from './faults.ts';
import { GroupActions } from './group-acts.ts';
import { GroupStore } from './groups.ts';
import { Mailbox } from './mailbox.ts';
import { MediaHost, openAttachment } from './media.ts';
import { createServerIdentity } from './noise.ts';
import { createLinkedCredentials } from './pairing.ts';
import { PeopleStore, type Person } from './people.ts';
import { PhoneSimulator } from './phones.ts';
import { WhatsAppServer } from './server.ts';
import { Transcript } from './transcript.ts';
import type {
  DoubleObservers,
  FaultControls,
  PeopleControls,
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
  const identity = createServerIdentity();
  const clock = options.clock ?? Date.now;
  const transcript = new Transcript(clock);
  const media = new MediaHost(clock, () => transcript.changes.changed());
  await media.listen();
  const account = createAccount(options, { clock, transcript, mediaHost: media.address });
  const phones = new PhoneSimulator(account);
  const server = new WhatsAppServer(account, phones, media);
  const parts = { account, phones, server, media };

  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://double');
    if (!url.pathname.startsWith('/control/')) response.writeHead(404).end();
    else void handleControl(double, request, response, url);
  });
  const sockets = new WebSocketServer({ server: http, path: '/ws/chat' });
  sockets.on('connection', (socket) => new ClientLink(socket, identity, server));
  const port = await listenOnLoopback(http, options.port ?? 0);

  const double: WhatsAppDouble = {
    ...createPeopleControls(parts),
    ...createObservers(parts),
    ...createFaultControls(parts),
    url: `ws://127.0.0.1:${port}/ws/chat`,
    controlUrl: `http://127.0.0.1:${port}/control`,
    rootKey: identity.rootKey,
    media,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await media.close();
      await stopServer(http);
    },
  };
  return double;
}

function createAccount(
  { owner }: WhatsAppDoubleOptions,
  given: Pick<SimulatedAccount, 'clock' | 'transcript' | 'mediaHost'>,
): SimulatedAccount {
  const people = new PeopleStore();
  const me = people.add({ name: 'Owner', ...owner, hidden: false });
  if (!hasNumber(me)) throw new Error("The account's owner needs a number");
  const faults = new FaultInjector();
  return {
    ...given,
    me,
    people,
    groups: new GroupStore(),
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
interface DoubleInternals {
  readonly account: SimulatedAccount;
  readonly phones: PhoneSimulator;
  readonly server: WhatsAppServer;
  readonly media: MediaHost;
}

/** The methods of the handle that act as people. */
function createPeopleControls({ account, phones, server, media }: DoubleInternals): PeopleControls {
  const acts = new PersonActions(account, phones, media);
  const groupActs = new GroupActions(account);
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
      const { companion, credentials } = createLinkedCredentials(account, server.nextDevice());
      server.link(companion);
      return credentials;
    },
    acts,
    say: (saying) => acts.say(saying),
  };
}

/** The methods of the handle that observe the double. */
function createObservers({ account, server, media }: DoubleInternals): DoubleObservers {
  const { transcript, mailbox } = account;
  return {
    transcript,
    state: () => {
      if (server.active !== undefined) return 'open';
      return server.pairing === undefined ? 'away' : 'pairing';
    },
    pairingRefs: () => server.pairing?.refs,
    conversation: (chat) => transcript.messages(getChat(account, chat).id),
    open: (attachment) => openAttachment(media, attachment),
    sends: () => transcript.sends,
    stanzas: (tag) =>
      transcript.stanzas.filter((stanza) => tag === undefined || stanza.tag === tag),
    waiting: () => mailbox.waiting,
    waitFor: (look, timeoutMs = 30_000) => transcript.changes.waitFor(look, timeoutMs),
  };
}

/** The methods of the handle that inject faults. */
function createFaultControls({ account, phones, server }: DoubleInternals): FaultControls {
  const { faults, people } = account;
  return {
    fault: (fault) =>
      faults.arm(
        fault.chat === undefined ? fault : { ...fault, chat: getChat(account, fault.chat).id },
      ),
    clearFaults: () => faults.clear(),
    loseSessions: (person) => phones.forgetSessions(people.get(person)),
    kick: (code) => server.kick(code),
    drop: () => server.active?.drop(),
    silence: (isSilent) => server.silence(isSilent),
  };
}
