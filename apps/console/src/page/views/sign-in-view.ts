import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { signIn } from '../session.ts';

interface SignInProps {
  /** Why the address that was opened did not sign in; null: it did not try to. */
  readonly trouble: string | null;
}

/** What a browser without a session sees. */
export function SignInView({ trouble: first }: SignInProps): VNode {
  const [trouble, setTrouble] = useState(first);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    setBusy(true);
    const reason = await signIn(String(new FormData(form).get('token')).trim());
    // Signed in, this view is gone.
    if (reason === null) return;
    setBusy(false);
    setTrouble(reason);
    form.querySelector('input')?.select();
  };
  return h(
    'main',
    { class: 'sign-in' },
    h('img', { src: '/page/icon.svg', alt: '', width: 56, height: 56 }),
    h('h1', null, 'This chat is private'),
    h('p', null, 'Sign in with the token of this gateway.'),
    h(
      'form',
      { onSubmit: (event: Event) => void submit(event) },
      h('label', { for: 'token' }, 'Token'),
      h(
        'div',
        { class: 'sign-in-row' },
        h('input', {
          id: 'token',
          name: 'token',
          type: 'password',
          autocomplete: 'off',
          spellcheck: false,
          required: true,
          autofocus: true,
          'aria-describedby': trouble === null ? undefined : 'sign-in-trouble',
        }),
        h('button', { type: 'submit', disabled: isBusy }, 'Open the chat'),
      ),
      trouble !== null &&
        h('p', { id: 'sign-in-trouble', class: 'trouble', role: 'alert' }, trouble),
    ),
    h(
      'p',
      { class: 'sign-in-hint' },
      'On the machine of the gateway, ',
      h('code', null, 'parley token show'),
      ' prints an address that signs in directly.',
    ),
  );
}
