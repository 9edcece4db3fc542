import {
  type AdapterValues,
  ChannelError,
  type OutboundFile,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/contracts';
import { DOCUMENT, fileMethodOf } from './file-method.ts';
import { keyboardOf } from './keyboard.ts';
import type { Attempt } from './next-attempt.ts';
import { fitsCaption, MAX_CAPTION, plainText } from './plain-text.ts';
import { type Call, markupOf, placeOf, type SendDeps, sendCall, sendText } from './send-text.ts';
import { openUpload, type Upload } from './upload.ts';

/** What sending files needs besides. */
export interface SendFileDeps extends SendDeps {
  readonly values: AdapterValues;
}

const FILE_SENT = 'file-sent';

/**
 * Sends a file with the words of its part below it. Words too long for that follow as a message of
 * their own. That the file has arrived is remembered in between: when the words have to wait or are
 * tried again, the file does not go out twice. Throws only `ChannelError`.
 */
export async function sendFile(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  if (fitsCaption(part.body)) return upload(deps, part, file, signal);
  // What is wrong with the buttons must be known before the file is out.
  keyboardOf(part.buttons);
  const sent = await deps.values.get(FILE_SENT, [part.id]);
  if (!sent.has(part.id)) await sendFirst(deps, part, file, signal);
  try {
    const receipt = await sendText(deps, part, signal);
    await forget(deps, part);
    return receipt;
  } catch (thrown) {
    if (!(thrown instanceof ChannelError && thrown.retryable)) await forget(deps, part);
    throw thrown;
  }
}

async function sendFirst(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<void> {
  const { buttons: _below, ...bare } = part;
  const silent = { ...bare, body: { text: '', plain: '' } };
  const { platformMessageId } = await upload(deps, silent, file, signal);
  try {
    await deps.values.set([{ kind: FILE_SENT, id: part.id, value: platformMessageId }]);
  } catch (error) {
    const reason = `the file has arrived, but not its words: ${reasonOf(error)}`;
    throw new ChannelError({ kind: 'unknown-outcome' }, `${file.name}: ${reason}.`, error);
  }
}

/** What is left behind when this fails is one row that nobody asks for again. */
async function forget({ values, note }: SendFileDeps, part: OutboundPart): Promise<void> {
  try {
    await values.set([{ kind: FILE_SENT, id: part.id, value: null }]);
  } catch (error) {
    note({ part: part.id, reason: reasonOf(error) }, 'a note about a sent file stays behind');
  }
}

async function upload(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  const opened = await openUpload(file);
  const broken = new AbortController();
  const make = (attempt: Attempt): Call =>
    fileCall(part, file, attempt, { ...opened, failed: (reason) => broken.abort(reason) });
  try {
    return await sendCall(deps, part, make, AbortSignal.any([signal, broken.signal]));
  } finally {
    await opened.close();
  }
}

/** Beside a file telegraf loses objects, so they go as JSON text, which the Bot API takes alike. */
function fileCall(
  part: OutboundPart,
  file: OutboundFile,
  attempt: Attempt,
  source: Upload & { failed(reason: unknown): void },
): Call {
  const { method, field } = attempt.asDocument ? DOCUMENT : fileMethodOf(file, source.bytes);
  const words = attempt.html ? part.body.text : plainText(part.body, MAX_CAPTION);
  const beside = {
    ...placeOf(part, attempt),
    ...(words === '' ? {} : { caption: words, ...markupOf(attempt) }),
    ...keyboardOf(part.buttons),
  };
  const flat = Object.entries(beside).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return { method, payload: { ...Object.fromEntries(flat), [field]: source.media(source.failed) } };
}
