import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import {
  ContactDirectory,
  isGroup,
  isPerson,
  toPersonIds,
  toPersonJid,
  toPublicId,
} from './people.ts';

describe('ids of people', () => {
  it.each([
    ['491500000001@s.whatsapp.net', '491500000001@s.whatsapp.net'],
    ['491500000001:3@s.whatsapp.net', '491500000001@s.whatsapp.net'],
    ['491500000001@c.us', '491500000001@s.whatsapp.net'],
    ['491500000001:99@hosted', '491500000001@s.whatsapp.net'],
    ['11_1:2@lid', '11@lid'],
    ['11:99@hosted.lid', '11@lid'],
    ['1203@g.us', undefined],
    ['status@broadcast', undefined],
    ['77@broadcast', undefined],
    ['88@newsletter', undefined],
    ['13135550002@bot', undefined],
    ['', undefined],
    [undefined, undefined],
    ['a@lid', undefined],
  ])('normalizes %s to %s, without a device', (jid, person) => {
    expect(toPersonJid(jid)).toBe(person);
  });

  it('identify one person by two forms, in any order', () => {
    const ids = { lid: '11@lid', pn: '49@s.whatsapp.net' };
    expect(toPersonIds('49:1@s.whatsapp.net', undefined, '11@lid')).toEqual(ids);
    expect(toPersonIds('11:2@lid', '49@s.whatsapp.net')).toEqual(ids);
    expect(isPerson('11:7@lid', ids) && isPerson('49:7@s.whatsapp.net', ids)).toBe(true);
    expect(isPerson('12@lid', ids) || isPerson(undefined, ids) || isPerson('', {})).toBe(false);
  });

  it('are written in settings as digits or unchanged', () => {
    expect([toPublicId('49@s.whatsapp.net'), toPublicId('11@lid')]).toEqual(['49', '11@lid']);
    expect([isGroup('1203@g.us'), isGroup('49@s.whatsapp.net')]).toEqual([true, false]);
  });
});

const LID = '11@lid';
const PN = '49@s.whatsapp.net';

describe('choosing the id that the core uses for a person', () => {
  it("[F05] uses the person's number, regardless of which id a message contains", async () => {
    const people = new ContactDirectory(createInMemoryAdapterValues());
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(PN);
    expect(await people.jidOf({ pn: PN })).toBe(PN);
    await people.keepIdentity({ lid: LID, pn: PN });
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(PN);
  });

  it('[F05] uses the number once it is known, if the person was refused before', async () => {
    const people = new ContactDirectory(createInMemoryAdapterValues());
    expect(await people.jidOf({ lid: LID })).toBe(LID);
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(PN);
  });

  it('[F05] keeps the identity of a person who was allowed under it, even after a restart', async () => {
    const values = createInMemoryAdapterValues();
    await new ContactDirectory(values).keepIdentity({ lid: LID });
    const people = new ContactDirectory(values);
    expect(await people.jidOf({ lid: LID, pn: PN })).toBe(LID);
    expect(await people.jidOf({})).toBeUndefined();
  });
});
