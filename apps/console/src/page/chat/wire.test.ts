import { describe, expect, it } from 'vitest';
import { readEvent, readHistory } from './wire.ts';

describe('what the gateway tells', () => {
  it('reads each kind of event', () => {
    const at = 5;
    expect(readEvent({ type: 'inbound', messageId: 'm', text: 'hi', at })).toEqual({
      type: 'inbound',
      id: 'm',
      text: 'hi',
      at,
      outcome: null,
    });
    expect(readEvent({ type: 'part', partId: 'p', turnId: null, text: '<p>', at })).toEqual({
      type: 'part',
      id: 'p',
      turnId: null,
      html: '<p>',
      buttons: [],
      at,
    });
    expect(readEvent({ type: 'stream', turnId: 't', text: 'x' })).toEqual({
      type: 'stream',
      turnId: 't',
      html: 'x',
    });
  });

  it.each([null, 3, 'x', [], {}, { type: 'alive' }, { type: 'part', text: 1 }, { type: 'stream' }])(
    'leaves out what it cannot show: %j',
    (data) => {
      expect(readEvent(data)).toBeNull();
    },
  );

  it('[G05] reads buttons, and leaves out those it cannot show', () => {
    const approve = { label: 'Approve', data: '/approve ABC234' };
    const buttons = [approve, { label: 'No data' }, null, 'x'];
    const told = { type: 'part', partId: 'p', turnId: null, text: '<p>', buttons, at: 5 };
    expect(readEvent(told)).toMatchObject({ buttons: [approve] });
  });

  it('shows the rest of a history in which one entry is new to it', () => {
    const known = { type: 'inbound', messageId: 'm', text: 'hi', at: 5, outcome: 'answered' };
    const history = readHistory({ entries: [{ type: 'hologram' }, known], commands: 'none' });
    expect(history.entries.map(({ id }) => id)).toEqual(['m']);
    expect(history.commands).toEqual([]);
    expect(readHistory('rubbish')).toEqual({ entries: [], commands: [] });
  });
});
