import type { AdmittedMessage } from '@parley/store';
import type { TypedCommand } from './command.ts';

/** The message as it is kept: what is to be forgotten must not be stored with the wish to forget it. */
export function withoutSecret(admitted: AdmittedMessage, { name }: TypedCommand): AdmittedMessage {
  if (name !== 'forget') return admitted;
  const { replyTo: _replyTo, ...message } = admitted.message;
  return { ...admitted, message: { ...message, text: '/forget' } };
}
