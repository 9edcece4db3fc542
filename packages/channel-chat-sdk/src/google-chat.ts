import { AsyncLocalStorage } from 'node:async_hooks';
import type { Adapter } from 'chat';

/** The message parameters of Google's client. */
interface MessageParameters {
  readonly requestBody?: object;
  readonly [name: string]: unknown;
}
type MessageCall = (parameters: MessageParameters, ...rest: unknown[]) => unknown;
interface MessagesApi {
  create: MessageCall;
  update: MessageCall;
}

/**
 * Adds two Google Chat features that the adapter lacks. The first is request ids, with which a
 * repeated request returns the first message (D04). The second is the text syntax, which otherwise
 * depends on a setting of the app.
 *
 * @returns Runs a send whose messages carry the key.
 */
export function addGoogleChatRequestIds(
  adapter: Adapter,
): <T>(key: string, send: () => Promise<T>) => Promise<T> {
  const sending = new AsyncLocalStorage<string>();
  const { chatApi } = adapter as unknown as {
    readonly chatApi: { readonly spaces: { readonly messages: MessagesApi } };
  };
  const { messages } = chatApi.spaces;
  const { create, update } = messages;
  const withSyntax = ({ requestBody, ...parameters }: MessageParameters): MessageParameters => ({
    ...parameters,
    requestBody: { ...requestBody, markupSyntax: 'MARKUP_SYNTAX_CHAT' },
  });
  messages.create = (parameters, ...rest) => {
    const requestId = sending.getStore();
    const keyed = { ...withSyntax(parameters), ...(requestId !== undefined && { requestId }) };
    return create.call(messages, keyed, ...rest);
  };
  messages.update = (parameters, ...rest) => update.call(messages, withSyntax(parameters), ...rest);
  return (key, send) => sending.run(key, send);
}
