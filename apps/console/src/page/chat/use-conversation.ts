import { useEffect, useState } from 'preact/hooks';
import type { ChatClient } from './chat-client.ts';
import type { Conversation } from './conversation.ts';

/** The conversation as it is now; the component is drawn again when it changes. */
export function useConversation(client: ChatClient): Conversation {
  const [now, setNow] = useState(client.now());
  useEffect(() => {
    setNow(client.now());
    return client.subscribe(() => setNow(client.now()));
  }, [client]);
  return now;
}
