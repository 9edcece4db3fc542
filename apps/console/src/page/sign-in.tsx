import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { signIn } from './gateway.ts';

/** Shown in a browser without a session. `trouble` says why the sign-in address did not work. */
export function SignInView(props: { readonly trouble: string | null }): VNode {
  const [trouble, setTrouble] = useState(props.trouble);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    setBusy(true);
    const reason = await signIn(String(new FormData(form).get('token')).trim());
    // A successful sign-in removes this view.
    if (reason === null) return;
    setBusy(false);
    setTrouble(reason);
    form.querySelector('input')?.select();
  };
  return (
    <main class="sign-in">
      <img src="/page/icon.svg" alt="" width={56} height={56} />
      <h1 class="title">This chat is private</h1>
      <p>Enter your access token.</p>
      <form onSubmit={(event) => void submit(event)}>
        <label for="token">Token</label>
        <div class="row">
          <input
            class="field"
            id="token"
            name="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            autofocus
            aria-describedby={trouble === null ? undefined : 'sign-in-trouble'}
          />
          <button type="submit" class="action is-main" disabled={isBusy}>
            Open the chat
          </button>
        </div>
        {trouble !== null && (
          <p id="sign-in-trouble" class="trouble" role="alert">
            {trouble}
          </p>
        )}
      </form>
      <p class="lead">
        On the gateway machine, <code>parley token show</code> prints a sign-in link.
      </p>
    </main>
  );
}
