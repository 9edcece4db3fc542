import type { proto } from '@whiskeysockets/baileys';
import { formatHeading, joinLines, type KindContent, shortenToLine } from './reading.ts';

/** A place with its name, address, comment and link. */
export function readLocation(place: proto.Message.ILocationMessage): KindContent {
  const words = joinLines(formatLocationLine(place), place.comment, place.url);
  return words === '' ? { unread: 'a place' } : { shown: words };
}

export function readLiveLocation(place: proto.Message.ILiveLocationMessage): KindContent {
  const line = formatLocationLine(place);
  return {
    shown: joinLines(line, place.caption),
    ...(line === '' && { unread: 'where they are' }),
  };
}

type LocationMessage = proto.Message.ILocationMessage;

/** Formats a place on one line; empty for a place without a name and coordinates. */
export function formatLocationLine(place: LocationMessage): string {
  const text = renderLocation(place);
  return text === '' ? '' : formatHeading('Location', text);
}

/**
 * Formats a place such as `Tower, Square 1 (52.52001, 13.40495)`, using the details that are known.
 * Invalid coordinates are left out; an app may omit a coordinate that is 0.
 */
export function renderLocation({
  degreesLatitude,
  degreesLongitude,
  name,
  address,
}: LocationMessage): string {
  const called = [shortenToLine(name), shortenToLine(address)]
    .filter((part) => part !== '')
    .join(', ');
  const at = formatCoordinates(degreesLatitude, degreesLongitude);
  if (at === '') return called;
  return called === '' ? at : `${called} (${at})`;
}

type Degrees = number | null | undefined;

function formatCoordinates(latitude: Degrees, longitude: Degrees): string {
  if (latitude == null && longitude == null) return '';
  const degrees = [latitude ?? 0, longitude ?? 0];
  return degrees.every(Number.isFinite) ? degrees.map((one) => one.toFixed(5)).join(', ') : '';
}
