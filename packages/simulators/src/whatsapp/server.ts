import { deflateSync } from 'node:zlib';
import { type BinaryNode, proto, S_WHATSAPP_NET } from '@whiskeysockets/baileys';
import { type Companion, getChat, getTimeInSeconds, type SimulatedAccount } from './account.ts';
import { type MediaHost, resendFile } from './media.ts';
import { handleMessage } from './messages.ts';
import type { HandshakeResult } from './noise.ts';
import { Pairing } from './pairing.ts';
import type { PhoneSimulator } from './phones.ts';
import { answerQuery } from './queries.ts';
import { parseKeyBundle } from './signal.ts';
import {
  buildNode,
  type ClientLink,
  createRefusal,
  createResult,
  findChild,
  type LinkHandler,
  listChildren,
} from './wire.ts';

/**
 * A client sends this prefix before its next introduction so that it is routed to the same server
 * again.
 */
const ROUTING_INFO = Buffer.from('double');

/** Handles the clients of one account as the servers do. */
export class WhatsAppServer implements LinkHandler {
  readonly #account: SimulatedAccount;
  readonly #phones: PhoneSimulator;
  readonly #media: MediaHost;
  #active: ClientLink | undefined;
  /** The client that shows a code for linking. */
  #pairing: Pairing | undefined;
  #lastDevice = 0;
  #isSilent = false;

  constructor(account: SimulatedAccount, phones: PhoneSimulator, media: MediaHost) {
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

  login(link: ClientLink, { clientKey, payload }: HandshakeResult): void {
    const fault = this.#account.faults.takeLogin();
    if (fault !== undefined) closeWithFailure(link, fault.reason);
    else if (payload.devicePairingData != null) this.#showCodes(link, clientKey, payload);
    else if (this.#isCompanion(clientKey, payload)) this.#welcome(link);
    else closeWithFailure(link, 401);
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
    this.#active?.sendAndClose(buildStreamError(401));
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
    link?.sendAndClose(buildClosingStanza(code));
  }

  /**
   * Keeps the connection open but ignores all input and does not send data; new connections do not
   * get a handshake response.
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
    this.#active?.sendAndClose(buildStreamError(440));
    this.#active = link;
    const lid = this.#account.companion?.lid;
    const t = getTimeInSeconds(this.#account);
    const routing = buildNode('edge_routing', {}, [buildNode('routing_info', {}, ROUTING_INFO)]);
    link.send(buildNode('success', { t, lid, props: 27 }));
    link.send(buildNode('ib', { from: 's.whatsapp.net' }, [routing]));
    link.send(
      buildNode('ib', { from: 's.whatsapp.net' }, [
        buildNode('dirty', { type: 'account_sync', timestamp: t }),
      ]),
    );
  }

  #query(link: ClientLink, query: BinaryNode): void {
    const [asked] = listChildren(query);
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
    if (fault !== undefined) return createRefusal(query, fault.code, 'refused');
    const linking = findChild(query, 'link_code_companion_reg');
    if (linking === undefined || this.#pairing?.link !== link)
      return answerQuery(this.#account, query);
    if (linking.attrs.stage === 'companion_hello') return this.#pairing.hello(query, linking);
    this.#pairing.answered(query, linking, () => this.nextDevice());
    return undefined;
  }

  async #take(link: ClientLink, stanza: BinaryNode): Promise<void> {
    if (stanza.tag === 'message') await handleMessage(this.#account, link, stanza);
    if (stanza.tag === 'receipt') this.#receipt(link, stanza);
    if (stanza.tag === 'ack') this.#account.mailbox.confirm(stanza);
    if (findChild(stanza, 'offline_batch') === undefined) return;
    this.#account.mailbox.giveWaiting(link);
    this.#bringHistory(link);
  }

  #paired(link: ClientLink, answer: BinaryNode): void {
    if (this.#pairing?.link !== link) return;
    const companion = this.#pairing.finish(answer);
    if (companion === undefined) return;
    this.link(companion);
    link.sendAndClose(buildStreamError(515));
  }

  #logout(link: ClientLink, query: BinaryNode): void {
    this.#account.companion = undefined;
    link.sendAndClose(createResult(query));
  }

  #receipt(link: ClientLink, receipt: BinaryNode): void {
    const { id = '', to = '', type, participant } = receipt.attrs;
    link.send(buildNode('ack', { class: 'receipt', id, from: to, type, participant }));
    if (type === 'retry') this.#resend(receipt);
    else if (type === 'server-error') this.#sendFileAgain(receipt);
    else this.#account.mailbox.confirm(receipt);
    if (type === 'read') this.#read(receipt);
  }

  /** A group receipt that does not name the author is ignored. */
  #read(receipt: BinaryNode): void {
    const { id = '', to = '', participant = '' } = receipt.attrs;
    const { transcript, people } = this.#account;
    const chat = getChat(this.#account, to);
    const listed = listChildren(receipt, 'list').flatMap((list) => listChildren(list, 'item'));
    const ids = [id, ...listed.map(({ attrs }) => attrs.id ?? '')].filter(
      (one) =>
        chat.kind !== 'group' ||
        people.find(participant)?.id === transcript.find(chat.id, one)?.from,
    );
    transcript.read(chat.id, ids, 'bot');
  }

  #sendFileAgain(receipt: BinaryNode): void {
    const file = this.#phones.fileOf(receipt.attrs.id ?? '');
    const answer = resendFile(this.#account, this.#media, receipt, file);
    this.#account.mailbox.put(answer, this.#account.me.id);
  }

  /**
   * The result is not awaited, because the phone is another device and must not delay the client's
   * next stanza.
   */
  #resend(receipt: BinaryNode): void {
    const keys = findChild(receipt, 'keys');
    const bundle = keys === undefined ? undefined : parseKeyBundle(keys, receipt);
    const count = findChild(receipt, 'retry')?.attrs.count ?? '1';
    this.#phones
      .resend(receipt.attrs.id ?? '', count, bundle)
      .catch((error: unknown) => this.failed(error));
  }

  /** Sends the phone's history to a newly linked client, after the waiting messages. */
  #bringHistory(link: ClientLink): void {
    const { companion, mailbox } = this.#account;
    if (companion?.isNew !== true || !mailbox.isOpenTo(link)) return;
    companion.isNew = false;
    this.#phones
      .postToOwnClient(createHistoryNotice())
      .catch((error: unknown) => this.failed(error));
  }

  #changed(): void {
    this.#account.transcript.changes.changed();
  }
}

function closeWithFailure(link: ClientLink, reason: number): void {
  link.sendAndClose(buildNode('failure', { reason, location: 'dbl' }));
}

function buildStreamError(code: number): BinaryNode {
  if (code === 440)
    return buildNode('stream:error', {}, [buildNode('conflict', { type: 'replaced' })]);
  if (code === 401)
    return buildNode('stream:error', { code }, [buildNode('conflict', { type: 'device_removed' })]);
  return buildNode('stream:error', { code });
}

/** The stanza with which the servers close a connection for a code that Baileys supports. */
function buildClosingStanza(code: number): BinaryNode {
  if (code === 403 || code === 405) return buildNode('failure', { reason: code });
  if (code === 411) return buildNode('ib', {}, [buildNode('downgrade_webclient')]);
  if (code === 428) return buildNode('xmlstreamend');
  return buildStreamError(code);
}

/**
 * Composes the phone's notice to a newly linked client that the history is empty. Without this
 * notice, a client buffers everything it receives for 20 seconds.
 */
function createHistoryNotice(): proto.IMessage {
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
