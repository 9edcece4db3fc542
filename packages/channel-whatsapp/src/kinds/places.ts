import type { proto } from '@whiskeysockets/baileys';
import { heading, joinLines, type Reading, shortLine } from './reading.ts';

/** A place with its name, address, comment and link. */
export function readLocation(place: proto.Message.ILocationMessage): Reading {
  const words = joinLines(placeLine(place), place.comment, place.url);
  return words === '' ? { unread: 'a place' } : { shown: words };
}

export function readLiveLocation(place: proto.Message.ILiveLocationMessage): Reading {
  const line = placeLine(place);
  return {
    shown: joinLines(line, place.caption),
    ...(line === '' && { unread: 'where they are' }),
  };
}

type Place = proto.Message.ILocationMessage;

/** A place on one line; empty for a place without a name or coordinates. */
export function placeLine(place: Place): string {
  const text = renderPlace(place);
  return text === '' ? '' : heading('Location', text);
}

/**
 * A place such as `Tower, Square 1 (52.52001, 13.40495)`, with the known details. Invalid
 * coordinates are left out; an app may omit a coordinate that is 0.
 */
export function renderPlace({ degreesLatitude, degreesLongitude, name, address }: Place): string {
  const called = [shortLine(name), shortLine(address)].filter((part) => part !== '').join(', ');
  const at = coordinatesText(degreesLatitude, degreesLongitude);
  if (at === '') return called;
  return called === '' ? at : `${called} (${at})`;
}

type Degrees = number | null | undefined;

function coordinatesText(latitude: Degrees, longitude: Degrees): string {
  if (latitude == null && longitude == null) return '';
  const degrees = [latitude ?? 0, longitude ?? 0];
  return degrees.every(Number.isFinite) ? degrees.map((one) => one.toFixed(5)).join(', ') : '';
}
