import { h, type VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { momentOf } from '../ui/moment.ts';
import type { NamedMessage } from './read-why.ts';

interface MessageLinksProps {
  readonly messages: readonly NamedMessage[];
  /** The one that is shown. */
  readonly chosen: string | null;
}

/** Messages to choose from, newest first. */
export function MessageLinks({ messages, chosen }: MessageLinksProps): VNode {
  return h(
    'div',
    { class: 'turn-list' },
    h(
      'ul',
      null,
      messages.map(({ name, channel, chatId, messageId, at }) =>
        h(
          'li',
          { key: name },
          h(
            'a',
            {
              class: 'turn-link',
              href: hrefOf({ view: 'why', message: name }),
              'aria-current': name === chosen ? 'true' : undefined,
            },
            h('span', { class: 'turn-where' }, `${channel} ${chatId}`),
            h('time', { dateTime: new Date(at).toISOString() }, momentOf(at)),
            h('span', { class: 'turn-facts' }, messageId),
          ),
        ),
      ),
    ),
  );
}
