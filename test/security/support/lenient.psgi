# The application of lenient.py, for starman.
use strict;
use warnings;
$| = 1;

sub {
    my $env = shift;
    my $path = $env->{PATH_INFO};
    print STDOUT "ran $env->{REQUEST_METHOD} $path\n";
    if ($path =~ m{/read$}) {
        my $body;
        1 while $env->{"psgi.input"}->read($body, 8192);
    }
    my $status = $path =~ m{/unchanged$} ? 304 : 200;
    return [$status, ["Content-Type" => "text/plain", "Content-Length" => length $path], [$path]];
};
