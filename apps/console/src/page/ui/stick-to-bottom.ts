import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Within this distance from the end, in CSS pixels, the view counts as being at the end. */
const NEAR = 48;

/**
 * Keeps `scroller` at its end while `content` grows. Once the reader scrolls up, the position stays
 * where it is until they scroll back down or request the end (`toEnd`). `stuck` is true while the
 * view follows the end.
 */
export function useStickToBottom(
  scroller: RefObject<HTMLElement>,
  content: RefObject<HTMLElement>,
) {
  const [stuck, setStuck] = useState(true);
  const [follow] = useState({ now: true, last: 0 });
  const toEnd = (): void => {
    follow.now = true;
    setStuck(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: 'instant' });
  };
  useEffect(() => {
    const box = scroller.current;
    if (!box || !content.current) return;
    const onScroll = (): void => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      // New content also moves the end away, so only scrolling up counts as leaving the end.
      if (near) follow.now = true;
      else if (box.scrollTop < follow.last) follow.now = false;
      follow.last = box.scrollTop;
      setStuck(follow.now);
    };
    const observer = new ResizeObserver(() => {
      if (follow.now) box.scrollTo({ top: box.scrollHeight, behavior: 'instant' });
    });
    observer.observe(content.current);
    observer.observe(box);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, []);
  return { stuck, toEnd };
}
