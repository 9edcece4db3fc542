import { deflateSync } from 'node:zlib';
import { type BinaryNode, proto, S_WHATSAPP_NET } from '@whiskeysockets/baileys';
import { type Account, type Companion, chatOf, seconds } from './account.ts';
import { type MediaHost, sendFileAgain } from './media.ts';
import { takeMessage } from './messages.ts';
import type { Login } from './noise.ts';
import { Pairing } from './pairing.ts';
import type { Phones } from './phones.ts';
import { answerQuery } from './queries.ts';
import { readBundle } from './signal.ts';
import {
  type ClientLink,
  child,
  children,
  type LinkHandler,
  node,
  refusal,
  result,
} from './wire.ts';

/**
 * A client sends this prefix before its next introduction so that it is routed to the same server
 * again.
 */
const ROUTING_INFO = Buffer.from('double');

/** Handles the clients of one account as the servers do. */
export class Server implements LinkHandler {
  readonly #account: Account;
  readonly #phones: Phones;
  readonly #media: MediaHost;
  #active: ClientLink | undefined;
  /** The client that shows a code for linking. */
  #pairing: Pairing | undefined;
  #lastDevice = 0;
  #isSilent = false;

  constructor(account: Account, phones: Phones, media: MediaHost) {
    this.#account = account;
    this.#phones = phones;
    this.#media = media;
  }

  get active(): ClientLink | undefined {
    return this.#active;
  }

  get pairing(): Pairing | undefined {
    return this.#pairing;
  }

  nextDevice(): number {
    this.#lastDevice += 1;
    return this.#lastDevice;
  }

  greets(): boolean {
    return !this.#isSilent && this.#account.faults.takeGreeting() === undefined;
  }

  login(link: ClientLink, { clientKey, payload }: Login): void {
    const fault = this.#account.faults.takeLogin();
    if (fault !== undefined) fail(link, fault.reason);
    else if (payload.devicePairingData != null) this.#showCodes(link, clientKey, payload);
    else if (this.#isCompanion(clientKey, payload)) this.#welcome(link);
    else fail(link, 401);
    this.#changed();
  }

  async stanza(link: ClientLink, stanza: BinaryNode): Promise<void> {
    this.#account.transcript.recordStanza(stanza);
    if (stanza.tag === 'iq') this.#query(link, stanza);
    else if (link === this.#active) await this.#take(link, stanza);
    this.#changed();
  }

  closed(link: ClientLink): void {
    this.#account.mailbox.closed(link);
    if (this.#active === link) this.#active = undefined;
    if (this.#pairing?.link === link) {
      this.#pairing.closed();
      this.#pairing = undefined;
    }
    this.#changed();
  }

  failed(error: unknown): void {
    this.#account.transcript.recordProblem(error);
  }

  /** Links a client and replaces the previous one. */
  link(companion: Companion): void {
    this.#active?.sendAndClose(streamError(401));
    this.#account.companion = companion;
    this.#account.mailbox.empty();
    this.#phones.forgetClient();
  }

  /** Closes the connection with this code, as the servers do; 401 and 403 are permanent. */
  kick(code: number): void {
    if (code === 401) this.#account.companion = undefined;
    if (code === 403) {
      this.#account.faults.arm({ kind: 'failure', reason: 403, times: Number.POSITIVE_INFINITY });
    }
    const link = this.#active ?? this.#pairing?.link;
    link?.sendAndClose(lastWords(code));
  }

  /**
   * Keeps the connection open but ignores all input and sends no data; new connections get no
   * handshake response.
   */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.#active?.stall(isSilent);
  }

  #showCodes(link: ClientLink, clientKey: Uint8Array, payload: proto.ClientPayload): void {
    this.#pairing = new Pairing(this.#account, link, clientKey, payload);
    this.#pairing.offer();
  }

  #isCompanion(clientKey: Uint8Array, { username, device }: proto.ClientPayload): boolean {
    const { companion, me } = this.#account;
    return (
      companion !== undefined &&
      companion.device === device &&
      me.pn === `${username}${S_WHATSAPP_NET}` &&
      Buffer.from(clientKey).equals(companion.noiseKey)
    );
  }

  #welcome(link: ClientLink): void {
    this.#active?.sendAndClose(streamError(440));
    this.#active = link;
    const lid = this.#account.companion?.lid;
    const t = seconds(this.#account);
    const routing = node('edge_routing', {}, [node('routing_info', {}, ROUTING_INFO)]);
    link.send(node('success', { t, lid, props: 27 }));
    link.send(node('ib', { from: 's.whatsapp.net' }, [routing]));
    link.send(
      node('ib', { from: 's.whatsapp.net' }, [
        node('dirty', { type: 'account_sync', timestamp: t }),
      ]),
    );
  }

  #query(link: ClientLink, query: BinaryNode): void {
    const [asked] = children(query);
    if (query.attrs.type === 'result' || query.attrs.type === 'error') this.#paired(link, query);
    else if (asked?.tag === 'remove-companion-device') this.#logout(link, query);
    else {
      const answer = this.#answer(link, query);
      if (answer !== undefined) link.send(answer);
      if (asked?.tag !== 'active' || link !== this.#active) return;
      this.#account.mailbox.open(link);
      this.#bringHistory(link);
    }
  }

  #answer(link: ClientLink, query: BinaryNode): BinaryNode | undefined {
    const fault = this.#account.faults.takeQuery(query.attrs.xmlns ?? '');
    if (fault?.kind === 'query-silence') return undefined;
    if (fault !== undefined) return refusal(query, fault.code, 'refused');
    const linking = child(query, 'link_code_companion_reg');
    if (linking === undefined || this.#pairing?.link !== link)
      return answerQuery(this.#account, query);
    if (linking.attrs.stage === 'companion_hello') return this.#pairing.hello(query, linking);
    this.#pairing.answered(query, linking, () => this.nextDevice());
    return undefined;
  }

  async #take(link: ClientLink, stanza: BinaryNode): Promise<void> {
    if (stanza.tag === 'message') await takeMessage(this.#account, link, stanza);
    if (stanza.tag === 'receipt') this.#receipt(link, stanza);
    if (stanza.tag === 'ack') this.#account.mailbox.confirm(stanza);
    if (child(stanza, 'offline_batch') === undefined) return;
    this.#account.mailbox.giveWaiting(link);
    this.#bringHistory(link);
  }

  #paired(link: ClientLink, answer: BinaryNode): void {
    if (this.#pairing?.link !== link) return;
    const companion = this.#pairing.finish(answer);
    if (companion === undefined) return;
    this.link(companion);
    link.sendAndClose(streamError(515));
  }

  #logout(link: ClientLink, query: BinaryNode): void {
    this.#account.companion = undefined;
    link.sendAndClose(result(query));
  }

  #receipt(link: ClientLink, receipt: BinaryNode): void {
    const { id = '', to = '', type, participant } = receipt.attrs;
    link.send(node('ack', { class: 'receipt', id, from: to, type, participant }));
    if (type === 'retry') this.#resend(receipt);
    else if (type === 'server-error') this.#sendFileAgain(receipt);
    else this.#account.mailbox.confirm(receipt);
    if (type === 'read') this.#read(receipt);
  }

  /** A group receipt that does not name the author is ignored. */
  #read(receipt: BinaryNode): void {
    const { id = '', to = '', participant = '' } = receipt.attrs;
    const { transcript, people } = this.#account;
    const chat = chatOf(this.#account, to);
    const listed = children(receipt, 'list').flatMap((list) => children(list, 'item'));
    const ids = [id, ...listed.map(({ attrs }) => attrs.id ?? '')].filter(
      (one) =>
        chat.kind !== 'group' ||
        people.find(participant)?.id === transcript.find(chat.id, one)?.from,
    );
    transcript.read(chat.id, ids, 'bot');
  }

  #sendFileAgain(receipt: BinaryNode): void {
    const file = this.#phones.fileOf(receipt.attrs.id ?? '');
    const answer = sendFileAgain(this.#account, this.#media, receipt, file);
    this.#account.mailbox.put(answer, this.#account.me.id);
  }

  /**
   * The result is not awaited, because the phone is another device and must not delay the client's
   * next stanza.
   */
  #resend(receipt: BinaryNode): void {
    const keys = child(receipt, 'keys');
    const bundle = keys === undefined ? undefined : readBundle(keys, receipt);
    const count = child(receipt, 'retry')?.attrs.count ?? '1';
    this.#phones
      .resend(receipt.attrs.id ?? '', count, bundle)
      .catch((error: unknown) => this.failed(error));
  }

  /** Sends the phone's history to a newly linked client, after the waiting messages. */
  #bringHistory(link: ClientLink): void {
    const { companion, mailbox } = this.#account;
    if (companion?.isNew !== true || !mailbox.isOpenTo(link)) return;
    companion.isNew = false;
    this.#phones.postToOwnClient(historyNotice()).catch((error: unknown) => this.failed(error));
  }

  #changed(): void {
    this.#account.transcript.changes.changed();
  }
}

function fail(link: ClientLink, reason: number): void {
  link.sendAndClose(node('failure', { reason, location: 'dbl' }));
}

function streamError(code: number): BinaryNode {
  if (code === 440) return node('stream:error', {}, [node('conflict', { type: 'replaced' })]);
  if (code === 401)
    return node('stream:error', { code }, [node('conflict', { type: 'device_removed' })]);
  return node('stream:error', { code });
}

/** The stanza with which the servers close a connection for a code that Baileys supports. */
function lastWords(code: number): BinaryNode {
  if (code === 403 || code === 405) return node('failure', { reason: code });
  if (code === 411) return node('ib', {}, [node('downgrade_webclient')]);
  if (code === 428) return node('xmlstreamend');
  return streamError(code);
}

/**
 * Composes the phone's notice to a newly linked client that the history is empty. Without this
 * notice, a client buffers everything it receives for 20 seconds.
 */
function historyNotice(): proto.IMessage {
  const { INITIAL_BOOTSTRAP } = proto.HistorySync.HistorySyncType;
  const history = proto.HistorySync.encode({
    syncType: INITIAL_BOOTSTRAP,
    chunkOrder: 1,
    progress: 100,
  }).finish();
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: INITIAL_BOOTSTRAP,
        chunkOrder: 1,
        progress: 100,
        initialHistBootstrapInlinePayload: deflateSync(history),
      },
    },
  };
}
