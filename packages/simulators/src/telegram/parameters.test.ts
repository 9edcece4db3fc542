import { afterEach, describe, expect, it } from 'vitest';
import {
  closeTestDoubles,
  getRefusalData,
  startTelegramTestDouble,
} from './testing/telegraf-client.ts';

const ANN = 501;
const draft = { chat_id: ANN, draft_id: 1, text: 'x' };
afterEach(closeTestDoubles);

describe('parameters of the Telegram double', () => {
  it.each<[string, object]>([
    ['sendMessage', { chat_id: ANN, text: 'x', can_stop: true }],
    ['sendMessage', { chat_id: ANN, text: 'x', receiver_user_id: ANN }],
    ['editMessageText', { chat_id: ANN, message_id: 1, text: 'x', can_stop: true }],
    ['sendMessageDraft', { ...draft, reply_parameters: { message_id: 1 } }],
    ['sendMessageDraft', { ...draft, stoppable: true }],
  ])('[F18] refuses an unsupported parameter of %s', async (method, payload) => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    const call = telegram.callApi(method as never, payload as never);
    expect(await getRefusalData(call)).toMatchObject({
      code: 400,
      description: expect.stringContaining('does not support parameter'),
    });
  });

  it('[F18] lets people press the stop button of a draft only if the button is shown', async () => {
    const { double, telegram } = await startTelegramTestDouble();
    double.say({ chat: ANN, text: 'hi' });
    await telegram.callApi('sendMessageDraft' as never, draft as never);
    expect(() => double.stopDraft(ANN)).toThrow('no draft with a stop button');
    const stoppable = { ...draft, can_stop: true };
    await telegram.callApi('sendMessageDraft' as never, stoppable as never);
    expect(double.stopDraft(ANN)).toBe(1);
    expect(double.pendingUpdates().at(-1)).toMatchObject({
      stopped_message_generation: { chat: { id: ANN, type: 'private' }, draft_id: 1 },
    });
  });
});
